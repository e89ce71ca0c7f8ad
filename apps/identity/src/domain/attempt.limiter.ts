/** An attempt to prove something secret: for which user, where it names one, and from which network address. */
export interface Attempt {
  /** Login name or, where it is nobody's, what was typed in its place. */
  login?: string;
  address: string;
}

/** Counts failed attempts by login name and by address, across all replicas. */
export interface AttemptLimiter {
  /** Throws `rate_limited` when the login name or the address has reached its limit of failures. */
  requireAllowed(attempt: Attempt): Promise<void>;
  /** Counts a failure. Throws `rate_limited` when the limit is exceeded, as concurrent attempts can do. */
  recordFailure(attempt: Attempt): Promise<void>;
}
