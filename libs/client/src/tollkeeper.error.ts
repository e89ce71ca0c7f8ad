export interface ErrorFacts {
  /** `code` of the API's error, or what went wrong here: `timeout`, `connection_failed`, `invalid_answer` … */
  code: string;
  status?: number | null;
  requestId?: string | null;
  retryAfterMs?: number | null;
  details?: { path: string; message: string }[];
}

/** A call that Tollkeeper refused, or an answer that is not Tollkeeper's. To try again unchanged does not help. */
export class TollkeeperError extends Error {
  override readonly name: string = 'TollkeeperError';
  /** Stable, for programs. */
  readonly code: string;
  /** Status of the HTTP answer; null without one. */
  readonly status: number | null;
  /** What to quote when asking for help. */
  readonly requestId: string | null;
  /** How long Tollkeeper asks to wait. */
  readonly retryAfterMs: number | null;
  /** The fields that are wrong. */
  readonly details: { path: string; message: string }[];

  // No cause: what `fetch` throws may show the request, and with it the key.
  constructor(message: string, facts: ErrorFacts) {
    super(message);
    this.code = facts.code;
    this.status = facts.status ?? null;
    this.requestId = facts.requestId ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
    this.details = facts.details ?? [];
  }
}

/** Tollkeeper could not be reached, or could not decide, in the time that the call had. */
export class TollkeeperUnavailable extends TollkeeperError {
  override readonly name = 'TollkeeperUnavailable';
}

export function unavailable(code: 'timeout' | 'connection_failed', message: string): TollkeeperUnavailable {
  return new TollkeeperUnavailable(message, { code });
}
