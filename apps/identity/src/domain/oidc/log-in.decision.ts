import type { Person } from './person.ts';

export interface LogInSettings {
  /** Whoever has no account gets one. */
  signUp: boolean;
  /** Whoever the mapping gives nothing is refused. */
  strict: boolean;
}

/** What is known of somebody who comes from a provider. */
export interface LogInFacts {
  person: Pick<Person, 'email' | 'emailProven'>;
  /** The account that this issuer and subject are linked to. */
  knownUserId: string | null;
  /** The account whose verified e-mail is theirs. */
  verifiedUserId: string | null;
  /** Whether an account claims the e-mail, as its login name or without having verified it, and has a password. */
  isClaimed: boolean;
  /** Whether an invitation waits for their proven e-mail. */
  isInvited: boolean;
  /** Whether the mapping gives them a role in a workspace. */
  isMapped: boolean;
}

export type LogInDecision =
  /** They log in to this account. `link`: it is linked to them from now on. */
  | { kind: 'log_in'; userId: string; link: boolean }
  /** They have to log in to their account with its password once. `mayBeNew`: or say that they have none. */
  | { kind: 'prove'; mayBeNew: boolean }
  /** They get an account of their own. */
  | { kind: 'sign_up' }
  | { kind: 'refuse'; reason: 'not_mapped' | 'no_account' };

/**
 * How somebody gets in whom a provider vouches for.
 *
 * An e-mail links somebody to an account only if it is verified on both sides. Otherwise whoever made an account under
 * the e-mail of somebody else would share it with them from their first log-in on, or whoever can choose an e-mail at
 * the provider would get into the account of its owner. Where the provider does not prove the e-mail, the decision does
 * not depend on whether there is an account, so that the answer does not tell.
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
