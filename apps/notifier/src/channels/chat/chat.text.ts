const MAX_TEXT_LENGTH = 60;

/**
 * Prepares text that people have typed: on one line, cut to `maxLength` characters, and escaped so that it contains no
 * mentions or links.
 */
export function shown(text: string, maxLength = MAX_TEXT_LENGTH): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  return escapeText(line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line);
}

/** Escapes the three special characters of Slack's text. */
export function escapeText(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
