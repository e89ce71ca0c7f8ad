import { AppError, type Clock, digestOf } from '@tollkeeper/kernel';
import type { AuthUseCases } from '../auth.use-cases.ts';
import type { UserStore } from '../user.ts';
import { type AccountProof, createAccountProof } from './account.proof.ts';
import { createAdmission } from './admission.ts';
import { arrivalOf } from './arrival.ts';
import { createEntry, type EntryDeps } from './entry.ts';
import { OidcFailure } from './failure.ts';
import type { LogInSettings } from './log-in.decision.ts';
import type { FailedLogIn, PassingStore, PendingLink } from './log-in.store.ts';
import type { CallbackParameters, OidcClient } from './oidc.client.ts';
import type { OidcProvider } from './provider.ts';
import { LOG_IN_MS, type Next, type Observe, randomId, type Visitor } from './visit.ts';

interface ConfiguredProvider {
  provider: OidcProvider;
  client: OidcClient;
}

export interface OidcDeps extends Omit<EntryDeps, 'providerIds'> {
  providers: readonly ConfiguredProvider[];
  settings: LogInSettings & { trustedDomains: readonly string[] };
  passing: PassingStore;
  users: Pick<UserStore, 'findByVerifiedEmail'>;
  auth: Pick<AuthUseCases, 'authenticate'>;
  clock: Clock;
  observe: Observe;
}

/** Methods with a provider's id throw `not_found` if it is not configured. */
export interface OidcUseCases extends Omit<AccountProof, 'findLink'> {
  /** In the order of the setting. */
  readonly providers: readonly Pick<OidcProvider, 'id' | 'buttonText'>[];
  start(providerId: string, returnTo: string, visitor: Visitor): Promise<Next>;
  finish(providerId: string, parameters: CallbackParameters, visitor: Visitor): Promise<Next>;
  /** Why a log-in failed. Throws `not_found` for unknown failures, and after 10 minutes. */
  failure(id: string): Promise<FailedLogIn & { buttonText: string }>;
  /** As `AccountProof.findLink`. */
  pendingLink(id: string, visitor: Visitor): Promise<PendingLink & { buttonText: string }>;
}

export function createOidcUseCases(deps: OidcDeps): OidcUseCases {
  const { providers, settings, passing, clock, observe } = deps;
  const entry = createEntry({ ...deps, providerIds: providers.map(({ provider }) => provider.id) });
  const admission = createAdmission({ ...deps, entry });
  const accountProof = createAccountProof({ ...deps, entry, admission });

  function configured(id: string): ConfiguredProvider {
    const found = providers.find(({ provider }) => provider.id === id);
    if (found !== undefined) return found;
    throw new AppError('not_found', 'This provider does not exist. GET /api/v1/auth/oidc lists all providers.');
  }

  const buttonTextOf = (id: string) => providers.find(({ provider }) => provider.id === id)?.provider.buttonText ?? id;
  const inTenMinutes = () => new Date(clock() + LOG_IN_MS);

  /** Reports failures to the person that they can do something about. Other errors are passed on. */
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
        return admission.admit(provider, claims, arrivalOf(provider, claims, { trustedDomains, returnTo }), visitor);
      });
    },

    async failure(id) {
      const found = await passing.findFailure(id, clock());
      if (found === null) throw new AppError('not_found', 'This login has expired. Log in again.');
      return { ...found, buttonText: buttonTextOf(found.providerId) };
    },

    async pendingLink(id, visitor) {
      const link = await accountProof.findLink(id, visitor);
      return { ...link, buttonText: buttonTextOf(link.arrival.providerId) };
    },

    prove: accountProof.prove,
    signUp: accountProof.signUp,
  };
}
