import type { Cause } from '@tollkeeper/contracts';
import { AppError, type Clock, digestOf, mintToken } from '@tollkeeper/kernel';
import type { Account } from './account.ts';
import type { AttemptLimiter } from './attempt.limiter.ts';
import type { AuthUseCases, RequestCause } from './auth.use-cases.ts';
import {
  DEVICE_LOGIN_MS,
  type DeviceLogin,
  type DeviceLoginStore,
  newUserCode,
  POLL_SECONDS,
  shownUserCode,
} from './device-login.ts';
import { mintSession, type SessionOrigin } from './session.ts';

/** A network may have this many log-ins that have not ended, so that it cannot fill the database. */
const MAX_OPEN_OF_NETWORK = 60;
/** Two log-ins in ten billion have the same user code. */
const MAX_CODES = 5;
/** A program that polls too often waits this much longer (RFC 8628 §3.5). */
const SLOW_DOWN_SECONDS = 5;
/** Then a poll that is too early changes nothing, so that nobody can make the database write all the time. */
const MAX_INTERVAL_SECONDS = 60;
/** A poll may arrive earlier by this, because the one before was slower. */
const POLL_TOLERANCE_MS = 1_000;

export interface DeviceLoginDeps {
  logins: DeviceLoginStore;
  auth: Pick<AuthUseCases, 'account'>;
  /** Counts wrong user codes by user, so that nobody's mistakes stop others. */
  limiter: AttemptLimiter;
  clock: Clock;
}

export interface DeviceLoginUseCases {
  /** Throws `rate_limited` if the network has too many open log-ins. */
  start(origin: SessionOrigin): Promise<{ deviceCode: string; userCode: string }>;
  /**
   * Opens the session of a confirmed log-in, once. Until then throws `authorization_pending` or `slow_down`, and in the
   * end `access_denied` or `expired_token`.
   */
  collect(deviceCode: string, request: RequestCause): Promise<Account & { cookie: string }>;
  /** The log-in with this code that waits for a decision. Throws `not_found`, or `rate_limited` for many such codes. */
  find(userId: string, userCode: string): Promise<DeviceLogin>;
  /** Fails as `find` does, and throws `forbidden` for service accounts. */
  confirm(by: DecidedBy, userCode: string): Promise<void>;
  decline(userId: string, userCode: string, cause: Cause): Promise<void>;
}

interface DecidedBy {
  userId: string;
  /** The digest of the session of the request; null if it has none. */
  sessionSha256: string | null;
  address: string | null;
}

export function createDeviceLoginUseCases({ logins, auth, limiter, clock }: DeviceLoginDeps): DeviceLoginUseCases {
  const now = () => new Date(clock());

  /** Throws unless `decide` finds the log-in. Each code that finds none counts for the user. */
  async function withCode<T>(userId: string, decide: () => Promise<T | null | false>): Promise<T> {
    await limiter.requireAllowed({ login: userId });
    const found = await decide();
    if (found !== null && found !== false) return found;
    await limiter.recordFailure({ login: userId });
    throw unknownCode();
  }

  async function pollAgain(deviceSha256: string, { polledAt, intervalSeconds }: DeviceLogin): Promise<never> {
    const at = now();
    const earliest = (polledAt?.getTime() ?? -Infinity) + intervalSeconds * 1_000 - POLL_TOLERANCE_MS;
    const tooEarly = at.getTime() < earliest;
    if (tooEarly && intervalSeconds >= MAX_INTERVAL_SECONDS) throw slowDown(intervalSeconds);
    const next = Math.min(intervalSeconds + (tooEarly ? SLOW_DOWN_SECONDS : 0), MAX_INTERVAL_SECONDS);
    await logins.recordPoll(deviceSha256, { polledAt: at, intervalSeconds: next });
    throw tooEarly ? slowDown(next) : pending(next);
  }

  return {
    async start(origin) {
      const createdAt = now();
      if ((await logins.countOpen(origin.address, createdAt)) >= MAX_OPEN_OF_NETWORK) throw tooManyOpen();
      const { token: deviceCode, sha256: deviceSha256 } = mintToken('device');
      const login: DeviceLogin = {
        ...{ origin, createdAt, expiresAt: new Date(createdAt.getTime() + DEVICE_LOGIN_MS) },
        ...{ state: 'pending', polledAt: null, intervalSeconds: POLL_SECONDS, confirmation: null },
      };
      for (let codes = 1; codes <= MAX_CODES; codes += 1) {
        const userCode = newUserCode();
        if (await logins.add({ deviceSha256, userSha256: digestOf(userCode) }, login)) {
          return { deviceCode, userCode: shownUserCode(userCode) };
        }
      }
      throw new Error(`No free user code was found in ${MAX_CODES} attempts`);
    },

    async collect(deviceCode, request) {
      const deviceSha256 = digestOf(deviceCode);
      const login = await logins.find(deviceSha256, now());
      if (login === null) throw expired();
      if (login.state === 'declined') throw denied();
      if (login.confirmation === null) return pollAgain(deviceSha256, login);
      const { userId } = login.confirmation;
      const { cookie, session } = mintSession(userId, clock(), login.origin);
      const collected = await logins.collect(deviceSha256, session, now(), request);
      if (collected === 'gone') throw expired();
      if (collected === 'refused') throw confirmationEnded();
      return { cookie, ...(await auth.account(userId)) };
    },

    find: (userId, userCode) => withCode(userId, () => logins.findPending(digestOf(userCode), now())),

    async confirm({ userId, sessionSha256, address }, userCode) {
      const { user } = await auth.account(userId);
      // Its session would outlast its rule.
      if (user.serviceAccount !== undefined || sessionSha256 === null) throw notForMachines();
      await withCode(userId, () => logins.confirm(digestOf(userCode), { userId, sessionSha256, address }, now()));
    },

    async decline(userId, userCode, cause) {
      await withCode(userId, () => logins.decline(digestOf(userCode), now(), cause));
    },
  };
}

function pending(retryAfterSeconds: number): AppError {
  const message = 'The login is not confirmed yet. Poll again after the interval.';
  return new AppError('authorization_pending', message, { retryAfterSeconds });
}

function slowDown(retryAfterSeconds: number): AppError {
  const message = `This was too early. Poll every ${retryAfterSeconds} seconds.`;
  return new AppError('slow_down', message, { retryAfterSeconds });
}

function denied(): AppError {
  return new AppError('access_denied', 'The login was declined in the browser. Start a new one if that was a mistake.');
}

function confirmationEnded(): AppError {
  const message = 'The person who confirmed the login has logged out or changed their password. Start a new one.';
  return new AppError('access_denied', message);
}

function expired(): AppError {
  return new AppError('expired_token', 'The login has expired or was completed before. Start a new one.');
}

function unknownCode(): AppError {
  const message = 'No login with this code is waiting. A code works once, for 10 minutes. Run the program again.';
  return new AppError('not_found', message);
}

function notForMachines(): AppError {
  const message = 'Service accounts cannot confirm logins. Log in as a person, and confirm the login then.';
  return new AppError('forbidden', message);
}

function tooManyOpen(): AppError {
  const message = `${MAX_OPEN_OF_NETWORK} logins from this address wait to be confirmed. Confirm them, or wait.`;
  return new AppError('rate_limited', message, { retryAfterSeconds: 60 });
}
