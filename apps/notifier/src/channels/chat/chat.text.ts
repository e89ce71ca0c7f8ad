const MAX_TEXT_LENGTH = 60;

/** Control characters, and those that turn the direction of the text around them. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Prepares text that people have typed: on one line, without unseen characters that change the text around it, cut to
 * `maxLength` characters, and escaped so that it contains no mentions or links.
 */
export function shown(text: string, maxLength = MAX_TEXT_LENGTH): string {
  const line = text.replace(/\s+/gu, ' ').replace(UNSEEN, '').trim();
  return escapeText(line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line);
}

/** Escapes the three special characters of Slack's text. */
export function escapeText(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
