import type { Person } from './person.ts';

export interface LogInSettings {
  /** Whether a person without an account gets one. */
  signUp: boolean;
  /** Whether a person to whom the mapping gives nothing is refused. */
  strict: boolean;
}

/** What is known about a person who comes from a provider. */
export interface LogInFacts {
  person: Pick<Person, 'email' | 'emailProven'>;
  /** The account that is linked to this issuer and subject. */
  knownUserId: string | null;
  /** The account that has verified their e-mail. */
  verifiedUserId: string | null;
  /** Whether an account with a password claims the e-mail: as its login name, or as an unverified e-mail. */
  isClaimed: boolean;
  /** Whether there is an open invitation for their proven e-mail. */
  isInvited: boolean;
  /** Whether the mapping gives them a role in a workspace. */
  isMapped: boolean;
}

export type LogInDecision =
  /** Log in to this account. `link`: also link it to them. */
  | { kind: 'log_in'; userId: string; link: boolean }
  /** Prove the account with its password, once. `mayBeNew`: they may also say that they have none. */
  | { kind: 'prove'; mayBeNew: boolean }
  /** Create an account. */
  | { kind: 'sign_up' }
  | { kind: 'refuse'; reason: 'not_mapped' | 'no_account' };

/**
 * Decides how a person from a provider gets in.
 *
 * An e-mail links a person to an account only if both sides have verified it. Otherwise, whoever registered somebody
 * else's e-mail here would share the account from that person's first log-in on; or whoever can choose an e-mail at the
 * provider would get into its owner's account. If the provider does not prove the e-mail, the decision does not depend
 * on whether an account exists, so the answer does not reveal it.
 */
export function decideLogIn(facts: LogInFacts, { signUp, strict }: LogInSettings): LogInDecision {
  const { person, knownUserId, verifiedUserId, isClaimed, isInvited, isMapped } = facts;
  if (strict && !isMapped) return { kind: 'refuse', reason: 'not_mapped' };
  if (knownUserId !== null) return { kind: 'log_in', userId: knownUserId, link: false };
  const mayBeNew = signUp || isInvited;
  if (person.emailProven) {
    if (verifiedUserId !== null) return { kind: 'log_in', userId: verifiedUserId, link: true };
    if (isClaimed) return { kind: 'prove', mayBeNew };
  } else if (person.email !== null) {
    return { kind: 'prove', mayBeNew };
  }
  return mayBeNew ? { kind: 'sign_up' } : { kind: 'refuse', reason: 'no_account' };
}
