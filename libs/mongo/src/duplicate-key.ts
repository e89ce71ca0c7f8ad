const DUPLICATE_KEY = 11_000;

/** True for the error of a write that a unique index refused. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === DUPLICATE_KEY;
}
