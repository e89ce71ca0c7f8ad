const MAX_LENGTH = 1_000;
const HERE = 'https://here.invalid';
/** Browsers treat a backslash as a slash, and drop tabs and line breaks. */
const ODD = /[\\\p{Cc}\s]/u;

/** Whether a text is the path of one of our pages: a log-in link must not lead to another site. */
export function isReturnPath(text: string): boolean {
  if (text.length > MAX_LENGTH || !text.startsWith('/') || text.startsWith('//') || ODD.test(text)) return false;
  try {
    const { origin, pathname } = new URL(text, HERE);
    return origin === HERE && !pathname.startsWith('//');
  } catch {
    return false;
  }
}
