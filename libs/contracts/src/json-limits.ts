/** Events need no deeper JSON, and MongoDB allows at most 100 levels. */
const MAX_DEPTH = 32;
const MAX_KEY_LENGTH = 256;

/**
 * The first reason why `value`, as parsed by JSON.parse, must not be stored: it is nested too deeply, or has a key that
 * documents cannot have (`__proto__`, one with a NUL character, one over 256 characters). Null if it may be stored.
 */
export function findJsonProblem(value: unknown): { path: PropertyKey[]; message: string } | null {
  return find(value, []);
}

function find(value: unknown, path: PropertyKey[]): { path: PropertyKey[]; message: string } | null {
  if (typeof value !== 'object' || value === null) return null;
  if (path.length >= MAX_DEPTH) return { path: [], message: `must not be nested more than ${MAX_DEPTH} levels deep` };
  const isArray = Array.isArray(value);
  for (const [key, child] of Object.entries(value)) {
    if (!isArray && (key === '__proto__' || key.includes('\0') || key.length > MAX_KEY_LENGTH)) {
      return {
        path: [...path, key],
        message: `is not a valid name: a name is not __proto__, has no NUL and at most ${MAX_KEY_LENGTH} characters`,
      };
    }
    path.push(isArray ? Number(key) : key);
    const problem = find(child, path);
    if (problem !== null) return problem;
    path.pop();
  }
  return null;
}
