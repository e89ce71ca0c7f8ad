const DUPLICATE_KEY = 11_000;

/** Whether a unique index refused the write. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === DUPLICATE_KEY;
}
