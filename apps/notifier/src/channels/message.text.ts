import type { Message } from '../domain/message.ts';

const MAX_TEXT_LENGTH = 60;
const MAX_NAME_LENGTH = 150;

/** Control characters, and those that turn the direction of the text around them. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const HEADLINES = new Map([
  ['alert.fired', 'Alert'],
  ['alert.resolved', 'Resolved'],
  ['channel.test', 'Test'],
]);

/**
 * Prepares text that people have typed: on one line, without unseen characters that change the text around it, and cut
 * to `maxLength` characters. What the destination gives a meaning must still be escaped.
 */
export function shown(text: string, maxLength = MAX_TEXT_LENGTH): string {
  const line = text.replace(/\s+/gu, ' ').replace(UNSEEN, '').trim();
  return line.length > maxLength ? `${line.slice(0, maxLength - 1).toWellFormed()}…` : line;
}

/** The name of the rule, for a message about one of its alerts. */
export function ruleNameOf({ alert }: Message): string {
  return shown(alert.rule_name, MAX_NAME_LENGTH);
}

/** The first line of a chat message. */
export function headlineOf(message: Message): string {
  const what = HEADLINES.get(message.type) ?? shown(message.type);
  return `${what} (${shown(message.alert.severity)}): ${ruleNameOf(message)}`;
}

/** The times of the alert, with their names. */
export function timesOf({ alert }: Message): [name: string, value: string][] {
  const fired: [string, string] = ['Fired at', shown(alert.triggered_at)];
  return alert.resolved_at === null ? [fired] : [fired, ['Resolved at', shown(alert.resolved_at)]];
}
