import { randomBytes } from 'node:crypto';
import { AppError, type Clock } from '@tollkeeper/kernel';
import type { AuthUseCases } from '../auth.use-cases.ts';
import { digestOf } from '../digest.ts';
import type { SessionOrigin } from '../session.ts';
import type { UserStore } from '../user.ts';
import { arrivalOf, notMapped } from './arrival.ts';
import type { Claims } from './claims.ts';
import { createEntry, type EntryDeps } from './entry.ts';
import { OidcFailure, type OidcFailureCode } from './failure.ts';
import { decideLogIn, type LogInDecision, type LogInSettings } from './log-in.decision.ts';
import type { Arrival, FailedLogIn, PassingStore, PendingLink, LogInRequest } from './log-in.store.ts';
import type { CallbackParameters, OidcClient } from './oidc.client.ts';
import type { OidcProvider } from './provider.ts';

/** How long a log-in may take, between its start and its end. */
export const LOG_IN_MS = 600_000;
/** Others may have linked the same person in the middle of it; then it is decided anew. */
const MAX_ATTEMPTS = 3;

interface ConfiguredProvider {
  provider: OidcProvider;
  client: OidcClient;
}

/**
 * What became of a log-in, for metrics and the log. `unknown_log_in`: it was begun more than 10 minutes ago, in another
 * browser or at another provider, or has been used.
 */
type OidcResult = 'logged_in' | 'linked' | 'signed_up' | 'proof_asked' | 'unknown_log_in' | OidcFailureCode;

export interface OidcDeps extends Omit<EntryDeps, 'providerIds'> {
  providers: readonly ConfiguredProvider[];
  settings: LogInSettings & { trustedDomains: readonly string[] };
  passing: PassingStore;
  users: Pick<UserStore, 'findByVerifiedEmail'>;
  auth: Pick<AuthUseCases, 'authenticate'>;
  clock: Clock;
  observe: (providerId: string, result: OidcResult, told: { requestId: string; failure?: OidcFailure }) => void;
}

/** Where the browser goes next, with the session that it gets where the log-in is complete. */
export type Next =
  | { page: 'provider'; url: string; browser: string }
  | { page: 'return'; returnTo: string; cookie: string }
  | { page: 'prove'; linkId: string }
  /** `failureId` is null where nothing is known of the log-in. */
  | { page: 'failed'; failureId: string | null };

/** A browser, where it comes from, and the cookie of its log-ins; null where it has none. */
export interface Visitor extends SessionOrigin {
  browser: string | null;
  requestId: string;
}

/** Methods that name a provider throw `not_found` for one that is not configured. */
export interface OidcUseCases {
  /** In the order of the setting. */
  readonly providers: readonly Pick<OidcProvider, 'id' | 'buttonText'>[];
  start(providerId: string, returnTo: string, visitor: Visitor): Promise<Next>;
  finish(providerId: string, parameters: CallbackParameters, visitor: Visitor): Promise<Next>;
  /** Why a log-in failed. Throws `not_found`, also when it is longer ago than 10 minutes. */
  failure(id: string): Promise<FailedLogIn & { buttonText: string }>;
  /** Throws `not_found` when it has been used, is of another browser, or expired. */
  pendingLink(id: string, visitor: Visitor): Promise<PendingLink & { buttonText: string }>;
  /**
   * Links the person to the account whose password is given, and logs them in. Throws as a log-in does, and then it can
   * be tried again.
   */
  prove(id: string, visitor: Visitor, login: string, password: string): Promise<Next>;
  /** Makes an account for somebody who has none. Throws `forbidden` where that is not allowed. */
  signUp(id: string, visitor: Visitor): Promise<Next>;
}

export function createOidcUseCases(deps: OidcDeps): OidcUseCases {
  const { providers, settings, passing, links, users, auth, clock, observe } = deps;
  const entry = createEntry({ ...deps, providerIds: providers.map(({ provider }) => provider.id) });

  function configured(id: string): ConfiguredProvider {
    const found = providers.find(({ provider }) => provider.id === id);
    if (found !== undefined) return found;
    throw new AppError('not_found', 'There is no such provider. GET /api/v1/auth/oidc lists those that there are.');
  }

  const buttonTextOf = (id: string) => providers.find(({ provider }) => provider.id === id)?.provider.buttonText ?? id;
  const inTenMinutes = () => new Date(clock() + LOG_IN_MS);

  /** Tells the person of what they can do something about. Anything else is passed on. */
  async function orFailed(providerId: string, { requestId }: Visitor, work: () => Promise<Next>): Promise<Next> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof OidcFailure)) throw error;
      observe(providerId, error.code, { requestId, failure: error });
      const { code, facts } = error;
      const id = randomId();
      await passing.keepFailure({ id, providerId, code, facts, expiresAt: inTenMinutes() });
      return { page: 'failed', failureId: id };
    }
  }

  async function decide({ person, grants }: Arrival): Promise<LogInDecision> {
    const { email, emailProven } = person;
    const proven = email !== null && emailProven;
    const facts = {
      person,
      knownUserId: await links.findUser(person),
      verifiedUserId: proven ? ((await users.findByVerifiedEmail(email))?.id ?? null) : null,
      isClaimed: proven && (await links.isClaimed(email)),
      isInvited: proven && (await links.isInvited(email, clock())),
      isMapped: grants.length > 0,
    };
    return decideLogIn(facts, settings);
  }

  /** Null when somebody else changed meanwhile what the decision rests on. */
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
        await passing.keepLink({ id, browserSha256, arrival, mayBeNew, expiresAt: inTenMinutes() });
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

  async function enter(provider: OidcProvider, claims: Claims, arrival: Arrival, visitor: Visitor): Promise<Next> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const decision = await decide(arrival);
      if (decision.kind === 'refuse') {
        // Whoever is refused because they are mapped to nothing has lost what the mapping gave them before.
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
  }

  async function findLink(id: string, { browser }: Visitor): Promise<PendingLink> {
    return (browser !== null && (await passing.findLink(id, digestOf(browser), clock()))) || unknownLink();
  }

  async function takeLink(id: string, { browser }: Visitor): Promise<PendingLink> {
    return (browser !== null && (await passing.takeLink(id, digestOf(browser), clock()))) || unknownLink();
  }

  return {
    providers: providers.map(({ provider: { id, buttonText } }) => ({ id, buttonText })),

    async start(providerId, returnTo, visitor) {
      const { client } = configured(providerId);
      return orFailed(providerId, visitor, async () => {
        const proof = client.newProof();
        const url = await client.authorizationUrl(proof);
        const browser = visitor.browser ?? randomId();
        const expiresAt = inTenMinutes();
        await passing.begin({ providerId, proof, browserSha256: digestOf(browser), returnTo, expiresAt });
        return { page: 'provider', url, browser };
      });
    },

    async finish(providerId, parameters, visitor) {
      const { provider, client } = configured(providerId);
      const { state } = parameters;
      const { browser } = visitor;
      const transaction =
        state === undefined || browser === null ? null : await passing.take(state, digestOf(browser), clock());
      if (transaction?.providerId !== providerId) {
        observe(providerId, 'unknown_log_in', visitor);
        return { page: 'failed', failureId: null };
      }
      return orFailed(providerId, visitor, async () => {
        const claims = await client.claims(parameters, transaction.proof);
        const { returnTo } = transaction;
        const { trustedDomains } = settings;
        return enter(provider, claims, arrivalOf(provider, claims, { trustedDomains, returnTo }), visitor);
      });
    },

    async failure(id) {
      const found = await passing.findFailure(id, clock());
      if (found === null) throw new AppError('not_found', 'Nothing is known of this log-in any more. Log in again.');
      return { ...found, buttonText: buttonTextOf(found.providerId) };
    },

    async pendingLink(id, visitor) {
      const link = await findLink(id, visitor);
      return { ...link, buttonText: buttonTextOf(link.arrival.providerId) };
    },

    async prove(id, visitor, login, password) {
      await findLink(id, visitor);
      const { address, userAgent, requestId } = visitor;
      const request = { action: 'user.provider.link', address, userAgent, requestId } as const;
      const user = await auth.authenticate({ login, address }, password, request);
      const { arrival } = await takeLink(id, visitor);
      const by = requestOf(visitor, arrival.providerId);
      if (!(await links.link(arrival.person, user, new Date(clock()), by))) throw linkedAlready();
      await entry.applyGrants(arrival, user.id, by);
      const next = await loggedIn(arrival, user.id, 'linked', visitor);
      return next ?? unknownLink();
    },

    async signUp(id, visitor) {
      const { mayBeNew } = await findLink(id, visitor);
      if (!mayBeNew) throw new AppError('forbidden', 'New accounts are made by invitation. Ask an owner for one.');
      const { arrival } = await takeLink(id, visitor);
      if (!(await entry.signUp(arrival.person))) throw linkedAlready();
      return (await enterNew(arrival, visitor)) ?? unknownLink();
    },
  };
}

function requestOf({ address, userAgent, requestId }: Visitor, providerId: string): LogInRequest {
  return { providerId, address, userAgent, requestId };
}

function unknownLink(): never {
  throw new AppError('not_found', 'Nothing is known of this log-in any more. Log in again.');
}

function linkedAlready(): AppError {
  return new AppError('conflict', 'You have an account here already. Log in again to get into it.');
}

/** 256 random bits. */
function randomId(): string {
  return randomBytes(32).toString('base64url');
}
