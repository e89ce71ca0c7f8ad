/** A line about what goes on, with the time of day. */
export function say(text: string): void {
  console.error(`${new Date().toISOString().slice(11, 19)} ${text}`);
}
