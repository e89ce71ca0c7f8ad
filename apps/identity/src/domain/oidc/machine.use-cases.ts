import { AppError, type Clock } from '@tollkeeper/kernel';
import type { Account } from '../account.ts';
import type { AttemptLimiter } from '../attempt.limiter.ts';
import type { AuthUseCases, RequestCause } from '../auth.use-cases.ts';
import { mintMachineSession, type SessionOrigin } from '../session.ts';
import { type Claims, hasValue, missingClaims } from './claims.ts';
import { OidcFailure, type OidcFailureCode } from './failure.ts';
import type { LogInRequest } from './log-in.store.ts';
import type { MachineArrival, MachineStore, TokenVerifier } from './machine.ts';
import type { MachineProvider, MachineRule } from './machine.provider.ts';
import { keysUnavailable, TokenRefusal, type TokenRefusalCode } from './token.refusal.ts';

type ExchangeResult = 'logged_in' | TokenRefusalCode | OidcFailureCode;

export interface MachineDeps {
  providers: readonly { provider: MachineProvider; verifier: TokenVerifier }[];
  machines: MachineStore;
  /** Counts failures apart from those of people, who may share the address. */
  limiter: Pick<AttemptLimiter, 'recordFailure'>;
  auth: Pick<AuthUseCases, 'account'>;
  clock: Clock;
  observe: (providerId: string, result: ExchangeResult, outcome: { requestId: string | null; failure?: Error }) => void;
}

interface TokenExchange {
  idToken: string;
  /** Slug of the workspace, if rules for several may match. */
  workspace: string | undefined;
}

/** A service account that has logged in. */
interface MachineLogIn extends Account {
  /** The value of the session cookie. */
  cookie: string;
  expiresAt: Date;
}

export interface MachineUseCases {
  /**
   * Opens a session for the bearer of a token. Throws `not_found` for an unknown provider, `unauthenticated` and
   * `forbidden` with the check that failed, `rate_limited` for further failures from the address, and
   * `service_unavailable` while the issuer's keys cannot be read. A right token is never refused for the failures of
   * others.
   */
  exchange(
    providerId: string,
    exchange: TokenExchange,
    origin: SessionOrigin,
    request: RequestCause,
  ): Promise<MachineLogIn>;
}

/** Keys that could not be read are asked for again after this time. */
const RETRY_AFTER_SECONDS = 5;

export function createMachineUseCases(deps: MachineDeps): MachineUseCases {
  const { providers, machines, limiter, auth, clock, observe } = deps;

  /** Returns the error for the sender. */
  async function refused(
    error: unknown,
    { origin, by, arrival }: { origin: SessionOrigin; by: LogInRequest; arrival: MachineArrival | undefined },
  ): Promise<unknown> {
    if (!(error instanceof TokenRefusal) && !(error instanceof OidcFailure)) return error;
    observe(by.providerId, error.code, { requestId: by.requestId, failure: error });
    if (error instanceof OidcFailure) return keysUnavailable(error.facts, RETRY_AFTER_SECONDS);
    await limiter.recordFailure({ address: origin.address });
    if (arrival !== undefined) await machines.recordRefusal(arrival, error.code, by);
    return error.toAppError();
  }

  return {
    async exchange(providerId, { idToken, workspace }, origin, { address, userAgent, requestId }) {
      const found = providers.find(({ provider }) => provider.id === providerId);
      if (found === undefined) throw unknownProvider();
      const { provider, verifier } = found;
      const by = { providerId, address, userAgent, requestId };
      let arrival: MachineArrival | undefined;
      try {
        const token = await verifier.verify(idToken);
        const rule = ruleFor(token, provider.mapping, workspace);
        arrival = { provider, rule, token };
        const now = clock();
        const { cookie, session } = mintMachineSession(now, origin, token);
        const userId = await machines.enter(arrival, session, new Date(now), by);
        observe(providerId, 'logged_in', { requestId });
        return { cookie, expiresAt: session.expiresAt, ...(await auth.account(userId)) };
      } catch (error) {
        throw await refused(error, { origin, by, arrival });
      }
    },
  };
}

/** The first rule that matches, of those for the workspace if one is named. Throws a `TokenRefusal` without one. */
function ruleFor(
  { claims, subject }: { claims: Claims; subject: string },
  mapping: readonly MachineRule[],
  workspace: string | undefined,
): MachineRule {
  const rules = workspace === undefined ? mapping : mapping.filter((rule) => rule.workspace === workspace);
  const found = rules.find((rule) =>
    Object.entries(rule.claims).every(([name, value]) => hasValue(claims, name, value)),
  );
  if (found !== undefined) return found;
  const missing = missingClaims(
    claims,
    rules.flatMap((rule) => Object.keys(rule.claims)),
  );
  throw new TokenRefusal('not_mapped', {
    ...{ subject, workspace },
    missing: missing.length === 0 ? undefined : missing.join(', '),
  });
}

function unknownProvider(): AppError {
  const message = 'This provider of machines does not exist. Ask the operator of Tollkeeper for its id.';
  return new AppError('not_found', message);
}
