/** Prints a line about the progress, with the time of day. */
export function say(text: string): void {
  console.error(`${new Date().toISOString().slice(11, 19)} ${text}`);
}
