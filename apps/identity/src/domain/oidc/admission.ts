import { type Clock, digestOf } from '@tollkeeper/kernel';
import type { UserStore } from '../user.ts';
import { notMapped } from './arrival.ts';
import type { Claims } from './claims.ts';
import type { Entry } from './entry.ts';
import { OidcFailure } from './failure.ts';
import { decideLogIn, type LogInDecision, type LogInFacts, type LogInSettings } from './log-in.decision.ts';
import type { Arrival, LinkStore, PassingStore } from './log-in.store.ts';
import type { OidcProvider } from './provider.ts';
import { LOG_IN_MS, type Next, type Observe, type OidcResult, randomId, requestOf, type Visitor } from './visit.ts';

/** If others link the same person meanwhile, the decision is made again. */
const MAX_ATTEMPTS = 3;

export interface AdmissionDeps {
  entry: Entry;
  settings: LogInSettings;
  passing: Pick<PassingStore, 'keepLink'>;
  links: Pick<LinkStore, 'findUser' | 'isClaimed' | 'isInvited' | 'link' | 'recordRefusal'>;
  users: Pick<UserStore, 'findByVerifiedEmail'>;
  clock: Clock;
  observe: Observe;
}

/** Decides how a person from a provider gets in, and lets them in. */
export interface Admission {
  /** Decides, and carries out the decision. Throws an `OidcFailure` if the person is refused. */
  admit(provider: OidcProvider, claims: Claims, arrival: Arrival, visitor: Visitor): Promise<Next>;
  /** Logs in a person who just got an account. Null if the account is no longer theirs. */
  enterNew(arrival: Arrival, visitor: Visitor): Promise<Next | null>;
  /** Opens the session of a person who is linked to the user. Null if they no longer are. */
  loggedIn(arrival: Arrival, userId: string, result: OidcResult, visitor: Visitor): Promise<Next | null>;
}

export function createAdmission(deps: AdmissionDeps): Admission {
  const { entry, settings, passing, links, clock, observe } = deps;

  /** Null if somebody else changed the facts of the decision meanwhile. */
  async function carryOut(
    decision: Exclude<LogInDecision, { kind: 'refuse' }>,
    arrival: Arrival,
    visitor: Visitor,
  ): Promise<Next | null> {
    const { person, providerId } = arrival;
    const { browser, requestId } = visitor;
    switch (decision.kind) {
      case 'log_in': {
        const { userId, link } = decision;
        const by = requestOf(visitor, providerId);
        if (link && !(await links.link(person, { id: userId }, new Date(clock()), by))) return null;
        await entry.applyGrants(arrival, userId, by);
        return loggedIn(arrival, userId, link ? 'linked' : 'logged_in', visitor);
      }
      case 'sign_up':
        return (await entry.signUp(person)) ? enterNew(arrival, visitor) : null;
      case 'prove': {
        const id = randomId();
        const { mayBeNew } = decision;
        const browserSha256 = digestOf(browser ?? '');
        await passing.keepLink({ id, browserSha256, arrival, mayBeNew, expiresAt: new Date(clock() + LOG_IN_MS) });
        observe(providerId, 'proof_asked', { requestId });
        return { page: 'prove', linkId: id };
      }
    }
  }

  async function enterNew(arrival: Arrival, visitor: Visitor): Promise<Next | null> {
    const userId = await links.findUser(arrival.person);
    if (userId === null) return null;
    await entry.applyGrants(arrival, userId, requestOf(visitor, arrival.providerId));
    return loggedIn(arrival, userId, 'signed_up', visitor);
  }

  async function loggedIn(
    { person, providerId, returnTo }: Arrival,
    userId: string,
    result: OidcResult,
    visitor: Visitor,
  ): Promise<Next | null> {
    const { requestId, address, userAgent } = visitor;
    const by = requestOf(visitor, providerId);
    const cookie = await entry.openSession(person, userId, { address, userAgent }, by);
    if (cookie === null) return null;
    observe(providerId, result, { requestId });
    return { page: 'return', returnTo, cookie };
  }

  return {
    async admit(provider, claims, arrival, visitor) {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const decision = decideLogIn(await factsOf(arrival, deps), settings);
        if (decision.kind === 'refuse') {
          // A person refused because no rule matches loses what the mapping gave them before.
          const userId = await links.findUser(arrival.person);
          if (userId !== null) {
            const by = requestOf(visitor, provider.id);
            await links.recordRefusal(userId, decision.reason, by);
            await entry.applyGrants(arrival, userId, by);
          }
          if (decision.reason === 'not_mapped') throw notMapped(provider, claims, arrival);
          throw new OidcFailure('no_account', { person: arrival.person.email ?? arrival.person.subject });
        }
        const next = await carryOut(decision, arrival, visitor);
        if (next !== null) return next;
      }
      throw new OidcFailure('busy');
    },
    enterNew,
    loggedIn,
  };
}

async function factsOf({ person, grants }: Arrival, { links, users, clock }: AdmissionDeps): Promise<LogInFacts> {
  const { email, emailProven } = person;
  const proven = email !== null && emailProven;
  return {
    person,
    knownUserId: await links.findUser(person),
    verifiedUserId: proven ? ((await users.findByVerifiedEmail(email))?.id ?? null) : null,
    isClaimed: proven && (await links.isClaimed(email)),
    isInvited: proven && (await links.isInvited(email, clock())),
    isMapped: grants.length > 0,
  };
}
