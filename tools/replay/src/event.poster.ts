import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { GatewayEvent } from '@tollkeeper/contracts';

/** Events of a batch that Tollkeeper refuses, by their index in it. */
type Refusals = ReadonlyMap<number, string>;

export interface EventPoster {
  /**
   * Posts the events in one request and resolves once all of them are durably accepted. If some are refused, none was
   * accepted. Rejects with {@link PostError} when it gives up.
   */
  post(events: readonly GatewayEvent[]): Promise<Refusals>;
}

/** Posting cannot continue; the message says why and what to do. */
export class PostError extends Error {
  override readonly name = 'PostError';
}

export interface EventPosterOptions {
  /** Base address, with a slash at its end. */
  url: URL;
  key: string;
  /** Called for each failure that is retried. */
  onRetry(reason: string, delayMs: number): void;
  /** Milliseconds of consecutive failures after which it gives up. */
  giveUpAfterMs?: number;
  /** Longest first delay between attempts; it doubles up to 10 s. */
  firstDelayMs?: number;
}

interface Attempt {
  /** Why it failed, if it may succeed later; absent after success. */
  reason?: string;
  /** How long the server asked to wait. */
  waitMs?: number | null;
  refusals?: Refusals;
}

const REQUEST_TIMEOUT_MS = 30_000;
const MAX_DELAY_MS = 10_000;

/** Retries failures that can pass: no connection, 429 and every 5xx; honors `Retry-After`. */
export function createEventPoster(options: EventPosterOptions): EventPoster {
  const { giveUpAfterMs = 120_000, firstDelayMs = 500 } = options;
  const endpoint = new URL('api/v1/events', options.url);

  return {
    async post(events) {
      const body = JSON.stringify(events);
      const startedAt = performance.now();
      for (let attempt = 0; ; attempt += 1) {
        const { reason, waitMs, refusals } = await request(endpoint, options.key, body);
        if (reason === undefined) return refusals ?? new Map();
        const backoffMs = Math.min(MAX_DELAY_MS, firstDelayMs * 2 ** attempt);
        const delayMs = waitMs ?? randomInt(Math.ceil(backoffMs / 2), backoffMs + 1);
        if (performance.now() - startedAt + delayMs > giveUpAfterMs) {
          throw new PostError(`${reason}, for too long to go on. Is Tollkeeper running at ${options.url.origin}?`);
        }
        options.onRetry(reason, delayMs);
        await delay(delayMs);
      }
    },
  };
}

async function request(endpoint: URL, key: string, body: string): Promise<Attempt> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(endpoint, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/cloudevents-batch+json' },
      body,
      // A redirect would send the key to another address.
      redirect: 'manual',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    text = await response.text();
  } catch (error) {
    return { reason: `${endpoint.origin} does not answer (${connectionProblem(error)})` };
  }
  if (response.status === 202) return {};
  if (response.status === 429 || response.status >= 500) {
    return { reason: `${endpoint.origin} answers ${response.status}`, waitMs: retryAfterMs(response) };
  }
  return { refusals: refusalsOf(response.status, text, endpoint) };
}

function connectionProblem(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return String(cause);
}

/** Seconds or an HTTP date (RFC 9110 §10.2.3); null if the server sends neither. */
function retryAfterMs(response: Response): number | null {
  const text = response.headers.get('retry-after') ?? '';
  if (/^\d{1,6}$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

/**
 * The events that a 400 names by their index (`[3].time`). Any other refusal concerns the whole request and is final.
 */
function refusalsOf(status: number, text: string, endpoint: URL): Refusals {
  const { error, details } = parseError(text);
  const named = details.flatMap(({ path, message }) => {
    const [, index] = /^\[(\d+)\]/.exec(path) ?? [];
    return index === undefined ? [] : [[Number(index), `${path.replace(/^\[\d+\]\.?/, '')} ${message}`] as const];
  });
  if (status === 400 && named.length > 0) return new Map(named);
  throw new PostError(`${endpoint} answered ${status}${error && `: ${error}`}. ${wayOut(status)}`);
}

function wayOut(status: number): string {
  if (status === 401) {
    return 'Check the key: it must be a whole ws_live_… key that is not revoked. An owner makes a new one in the workspace keys.';
  }
  if (status === 403) return 'The key may not post events: take one of role developer or admin.';
  if (status === 404 || (status >= 300 && status < 400))
    return 'Check --url: it must be the address of Tollkeeper itself.';
  return 'The events are not what this Tollkeeper takes: use the replay of the same version.';
}

function parseError(text: string): { error: string; details: { path: string; message: string }[] } {
  try {
    const { error = '', details = [] } = JSON.parse(text) as {
      error?: string;
      details?: { path: string; message: string }[];
    };
    return { error, details };
  } catch {
    return { error: '', details: [] };
  }
}
