/** Deeper JSON has no use in an event, and MongoDB takes 100 levels at most. */
const MAX_DEPTH = 32;
const MAX_KEY_LENGTH = 256;

/**
 * The first reason why `value`, as JSON.parse made it, must not be kept: nested too deep, or a key that documents
 * can't hold (`__proto__`, one with a NUL character, one over 256 characters). Null when it may.
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
        message: `must not be used as a name; names are not __proto__, have no NUL and at most ${MAX_KEY_LENGTH} characters`,
      };
    }
    path.push(isArray ? Number(key) : key);
    const problem = find(child, path);
    if (problem !== null) return problem;
    path.pop();
  }
  return null;
}
