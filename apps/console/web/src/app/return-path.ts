/** Whether a text is the path of a page here: a link to the log-in must not lead away from it. */
export function isPathHere(text: unknown): text is string {
  return typeof text === 'string' && /^\/(?![/\\])[^\\\s]*$/.test(text);
}
