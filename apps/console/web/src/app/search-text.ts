/**
 * The parameters of a URL, each as its text. The router's own parser makes a number of "1.10", and "1.1" of that.
 * Without its "?", `text` is read as well; of a parameter that stands there twice, the last counts.
 */
export function readSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

/** The text of a URL from its "?" on, which {@link readSearch} reads back; empty without parameters. */
export function writeSearch(search: Record<string, string | number | undefined>): string {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) if (value !== undefined) parts.set(name, String(value));
  return parts.size === 0 ? '' : `?${parts.toString()}`;
}
