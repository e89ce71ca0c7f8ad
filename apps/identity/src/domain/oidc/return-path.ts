const MAX_LENGTH = 1_000;
const HERE = 'https://here.invalid';
/** Browsers take a backslash for a slash, and drop tabs and line breaks. */
const ODD = /[\\\p{Cc}\s]/u;

/** Whether a text is the path of a page of ours: a link to a log-in must not lead away from it. */
export function isReturnPath(text: string): boolean {
  if (text.length > MAX_LENGTH || !text.startsWith('/') || text.startsWith('//') || ODD.test(text)) return false;
  try {
    const { origin, pathname } = new URL(text, HERE);
    return origin === HERE && !pathname.startsWith('//');
  } catch {
    return false;
  }
}
