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
  return [`${what} (${shown(message.alert.severity)}): ${ruleNameOf(message)}`, ...countsOf(message)].join(' · ');
}

/** "12 alerts", and "3 already resolved" if they fired; nothing for a single alert that is as the message says. */
function countsOf({ type, group }: Message): string[] {
  if (group === undefined) return [];
  const { total, resolved } = group;
  const alerts = total > 1 ? [`${total.toLocaleString('en')} alerts`] : [];
  if (type === 'alert.resolved' || resolved === 0) return alerts;
  const share = total === 1 ? '' : resolved === total ? 'all ' : `${resolved.toLocaleString('en')} `;
  return [...alerts, `${share}already resolved`];
}

interface MessageLink {
  text: string;
  url: string;
}

const STEPS = { raise: 'Raise until midnight', pause: 'Pause', calls: 'See the calls' } as const;

/** The ways out of a firing alert. The console knows what each of them leads to. */
export function stepsOf({ alert, links: { page } }: Message): MessageLink[] {
  // Without the name of the workspace, the page is not the one of the alert. A request has a page of its own.
  if (alert.status !== 'firing' || !new URL(page).searchParams.has('alert')) return [];
  const budget = alert.burn ?? alert.forecast ?? alert.budget;
  const isOfBudget = budget !== null || alert.event_types.some((type) => type.startsWith('budget.'));
  const { raise, ...others } = STEPS;
  const steps = Object.entries(isOfBudget ? { raise, ...others } : others);
  return steps.map(([step, text]) => ({ text, url: `${page}&step=${step}` }));
}

/** Where a message leads people. */
export function linksOf(message: Message): MessageLink[] {
  return [...stepsOf(message), { text: 'Open in Tollkeeper', url: message.links.page }];
}

/** The times of the alert, with their names. */
export function timesOf({ alert }: Message): [name: string, value: string][] {
  const fired: [string, string] = ['Fired at', shown(alert.triggered_at)];
  return alert.resolved_at === null ? [fired] : [fired, ['Resolved at', shown(alert.resolved_at)]];
}
