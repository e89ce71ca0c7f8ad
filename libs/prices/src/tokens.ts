/** The tokens of a call. All kinds are disjoint, except that `reasoning` is a part of `output`. */
export interface TokenKinds {
  /** Neither read from a cache nor written to one. */
  input: number;
  cacheRead: number;
  /** Written to a cache for the usual time. */
  cacheWrite: number;
  /** Written to a cache for an hour. */
  cacheWrite1h: number;
  output: number;
  reasoning: number;
}

/** All tokens of the input, cached or not. */
export function inputTotal({ input, cacheRead, cacheWrite, cacheWrite1h }: TokenKinds): number {
  return input + cacheRead + cacheWrite + cacheWrite1h;
}
