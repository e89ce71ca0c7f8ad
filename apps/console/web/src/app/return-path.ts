/** Whether a text is the path of one of our pages: a log-in link must not lead to another site. */
export function isPathHere(text: unknown): text is string {
  return typeof text === 'string' && /^\/(?![/\\])[^\\\s]*$/.test(text);
}
