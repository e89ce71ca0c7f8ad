/** The paragraphs of a plain text. */
export function paragraphs(...parts: string[]): string {
  return `${parts.join('\n\n')}\n`;
}

/** "2026-11-30 18:00 UTC". */
export function timeInWords(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
