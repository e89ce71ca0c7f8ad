import { hash } from 'node:crypto';
import { fromWireRole } from '@tollkeeper/contracts';
import type { SessionMessage, identityService } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import { signCallerToken } from '@tollkeeper/http';
import type { TokenKey } from '@tollkeeper/http';
import { AppError, provenTenantId, roomFor } from '@tollkeeper/kernel';
import { LRUCache } from 'lru-cache';
import type { Session, SessionDirectory } from '../domain/session.ts';

type IdentityClient = GrpcClient<typeof identityService>;

export interface SessionDirectoryOptions {
  identity: Pick<IdentityClient, 'resolveSession'>;
  tokenKey: TokenKey;
  /** How long an answer may be used, in milliseconds from the question; at most 5000. */
  cacheMs: number;
  /** Monotonic milliseconds. */
  now?: () => number;
}

interface Question {
  answer: Promise<Session | null>;
  /** The question that starts after this one. */
  next?: Promise<Session | null>;
}

const MAX_CACHED_SESSIONS = 20_000;
/** As long as an answer may be used: on a busy machine, people would rather wait than be refused. */
const DEADLINE_MS = 5_000;
/** The form of identity's session ids: 256 random bits in base64url. Anything else is refused without a question. */
const SESSION_ID = /^[A-Za-z0-9_-]{43}$/;

/**
 * Asks identity about sessions and caches its answers, good and bad, for a few seconds. Concurrent questions about a
 * session are merged into one, or two if the first started too early. Only the SHA-256 of cookies is kept here.
 */
export function createSessionDirectory(options: SessionDirectoryOptions): SessionDirectory {
  const { identity, tokenKey, cacheMs, now = () => performance.now() } = options;
  const answers = new LRUCache<string, Promise<Session | null>>({
    ...roomFor(MAX_CACHED_SESSIONS),
    ttl: cacheMs,
    ttlResolution: 0,
    perf: { now },
  });

  /** Questions of `resolveAnew`, by session. */
  const asking = new Map<string, Question>();

  async function ask(sha256: string, requestId: string): Promise<Session | null> {
    try {
      const question = { sessionSha256: Buffer.from(sha256, 'hex') };
      const { session } = await identity.resolveSession(question, { requestId, deadlineMs: DEADLINE_MS });
      return session === null ? null : toSession(session, tokenKey);
    } catch (cause) {
      throw new AppError('service_unavailable', 'Sessions cannot be checked right now. Try again shortly.', {
        cause,
        retryAfterSeconds: 2,
      });
    }
  }

  /** Failures are not cached. */
  function keep(sha256: string, answer: Promise<Session | null>): void {
    answers.set(sha256, answer);
    answer.catch(() => answers.delete(sha256));
  }

  /** Callers that come while a question is in progress share the question that starts after it. */
  function askAnew(sha256: string, requestId: string): Promise<Session | null> {
    const inFlight = asking.get(sha256);
    if (inFlight !== undefined) {
      const begin = (): Promise<Session | null> => beginAnew(sha256, requestId);
      return (inFlight.next ??= inFlight.answer.then(begin, begin));
    }
    return beginAnew(sha256, requestId);
  }

  function beginAnew(sha256: string, requestId: string): Promise<Session | null> {
    const question: Question = { answer: ask(sha256, requestId) };
    asking.set(sha256, question);
    const end = (): void => {
      if (question.next === undefined) asking.delete(sha256);
    };
    question.answer.then(end, end);
    return question.answer;
  }

  return {
    resolve(cookie, requestId) {
      if (!SESSION_ID.test(cookie)) return Promise.resolve(null);
      const sha256 = hash('sha256', cookie);
      const known = answers.get(sha256);
      if (known !== undefined) return known;
      const answer = ask(sha256, requestId);
      if (cacheMs > 0) keep(sha256, answer);
      return answer;
    },
    resolveAnew(cookie, requestId) {
      return SESSION_ID.test(cookie) ? askAnew(hash('sha256', cookie), requestId) : Promise.resolve(null);
    },
    forget(cookie) {
      answers.delete(hash('sha256', cookie));
    },
  };
}

function toSession(session: SessionMessage, tokenKey: TokenKey): Session {
  const { userId, userName, memberships } = session;
  const tokens = new Map<string, Promise<string>>();
  const name = userName === '' ? undefined : userName;
  return {
    userId,
    name,
    // A role that only a newer release of identity knows gives no access here. The other workspaces stay.
    memberships: memberships.flatMap(({ tenantId, slug, role: wireRole }) => {
      const role = fromWireRole(wireRole);
      return role === null ? [] : [{ tenantId: provenTenantId(tenantId), slug, role }];
    }),
    callerToken(service, membership) {
      const tenantId = membership?.tenantId ?? null;
      const use = `${service} ${tenantId}`;
      let token = tokens.get(use);
      if (token === undefined) {
        token = signCallerToken(tokenKey, service, { userId, name, tenantId, role: membership?.role ?? null });
        tokens.set(use, token);
      }
      return token;
    },
  };
}
