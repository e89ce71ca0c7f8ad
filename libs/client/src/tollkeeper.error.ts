export interface ErrorFacts {
  /** `code` of the API's error, or of the local failure: `timeout`, `connection_failed`, `invalid_answer` … */
  code: string;
  status?: number | null;
  requestId?: string | null;
  retryAfterMs?: number | null;
  details?: { path: string; message: string }[];
}

/** Tollkeeper refused a call, or the answer is not from Tollkeeper. Retrying the same call does not help. */
export class TollkeeperError extends Error {
  override readonly name: string = 'TollkeeperError';
  /** Stable, for programs. */
  readonly code: string;
  /** Status of the HTTP answer; null without one. */
  readonly status: number | null;
  /** The id to quote in support requests. */
  readonly requestId: string | null;
  /** How long to wait before a retry, as requested by Tollkeeper. */
  readonly retryAfterMs: number | null;
  /** The invalid fields. */
  readonly details: { path: string; message: string }[];

  // Has no cause, because errors of `fetch` may contain the request with the key.
  constructor(message: string, facts: ErrorFacts) {
    super(message);
    this.code = facts.code;
    this.status = facts.status ?? null;
    this.requestId = facts.requestId ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
    this.details = facts.details ?? [];
  }
}

/** Tollkeeper could not be reached, or could not decide, in the time of the call. */
export class TollkeeperUnavailable extends TollkeeperError {
  override readonly name = 'TollkeeperUnavailable';
}

export function unavailable(code: 'timeout' | 'connection_failed', message: string): TollkeeperUnavailable {
  return new TollkeeperUnavailable(message, { code });
}
