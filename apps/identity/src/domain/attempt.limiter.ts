/** An attempt to prove a secret. It is counted for what it names. */
export interface Attempt {
  /** The login name of the user, or the typed text if it belongs to nobody. */
  login?: string;
  /** The network address that it comes from. */
  address?: string;
}

/** Counts failed attempts by login name and by address, across all replicas. */
export interface AttemptLimiter {
  /** Throws `rate_limited` when the login name or the address has reached its limit of failures. */
  requireAllowed(attempt: Attempt): Promise<void>;
  /** Counts a failure. Throws `rate_limited` if that exceeds the limit, as concurrent attempts can do. */
  recordFailure(attempt: Attempt): Promise<void>;
}
