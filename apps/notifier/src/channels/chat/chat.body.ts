import type { ShownAlert } from '@tollkeeper/contracts';
import type { Message } from '../../domain/message.ts';

const MAX_NAME_LENGTH = 150;
const MAX_TYPES_SHOWN = 5;
const MAX_TEXT_LENGTH = 60;
const MICROS_PER_USD = 1_000_000;

const HEADLINES = new Map([
  ['alert.fired', 'Alert'],
  ['alert.resolved', 'Resolved'],
  ['channel.test', 'Test'],
]);

/**
 * The JSON body for a `chat` channel: `text` for notifications, `blocks` for the chat, as Slack's incoming webhooks
 * take them.
 */
export function chatBody({ type, alert, url }: Message): string {
  const what = HEADLINES.get(type) ?? shown(type, MAX_TEXT_LENGTH);
  const severity = shown(alert.severity, MAX_TEXT_LENGTH);
  const headline = `${what} (${severity}): ${shown(alert.rule_name, MAX_NAME_LENGTH)}`;
  const fields = [
    [alert.spend ? 'Spend' : 'Count', describeCount(alert)],
    ['Scope', `${shown(alert.scope_type, MAX_TEXT_LENGTH)} ${shown(alert.scope_id, MAX_TEXT_LENGTH)}`],
    ['Events', describeTypes(alert)],
    ['Fired at', shown(alert.triggered_at, MAX_TEXT_LENGTH)],
    ...(alert.resolved_at === null ? [] : [['Resolved at', shown(alert.resolved_at, MAX_TEXT_LENGTH)]]),
  ];
  return JSON.stringify({
    text: headline,
    blocks: [
      { type: 'section', text: mrkdwn(`*${headline}*`) },
      { type: 'section', fields: fields.map(([name, value]) => mrkdwn(`*${name}*\n${value}`)) },
      { type: 'context', elements: [mrkdwn(`<${escapeText(url)}|Open in Tollkeeper>`)] },
    ],
  });
}

/** Formatted text. `verbatim` keeps Slack from turning parts of it into links and mentions. */
function mrkdwn(text: string) {
  return { type: 'mrkdwn', text, verbatim: true };
}

function describeCount({ rule_kind, event_count, threshold, spend }: ShownAlert): string {
  if (spend) {
    const settlements = event_count === 1 ? '1 settlement' : `${event_count} settlements`;
    return `${usd(spend.settled_micros)} in ${settlements} (threshold ${usd(spend.threshold_micros)})`;
  }
  switch (rule_kind) {
    case 'first_occurrence':
      return 'first occurrence';
    // Of a newer evaluator it may be any text.
    default:
      return `${event_count} (threshold ${threshold})`;
  }
}

/** US dollars with all digits of the micros: two to six decimals. */
function usd(micros: number): string {
  const fraction = String(micros % MICROS_PER_USD).padStart(6, '0');
  return `$${Math.floor(micros / MICROS_PER_USD)}.${fraction.replace(/0{1,4}$/, '')}`;
}

function describeTypes({ event_types: types }: ShownAlert): string {
  if (types.length === 0) return 'every type';
  const named = types.slice(0, MAX_TYPES_SHOWN).map((type) => shown(type, MAX_TEXT_LENGTH));
  const rest = types.length - named.length;
  return rest > 0 ? `${named.join(', ')} and ${rest} more` : named.join(', ');
}

/**
 * Text that people have typed: on one line, cut to `maxLength` characters, and escaped so that it contains no mention
 * and no link.
 */
function shown(text: string, maxLength: number): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  return escapeText(line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line);
}

/** The three characters that have a meaning in Slack's text. */
function escapeText(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
