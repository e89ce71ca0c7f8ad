import type { Message } from '../../domain/message.ts';
import { alertSentence } from './alert.sentence.ts';
import { escapeText, shown } from './chat.text.ts';

const MAX_NAME_LENGTH = 150;

const HEADLINES = new Map([
  ['alert.fired', 'Alert'],
  ['alert.resolved', 'Resolved'],
  ['channel.test', 'Test'],
]);

/**
 * The JSON body for a `chat` channel in the format of Slack's incoming webhooks: `text` is for notifications, `blocks`
 * for the chat.
 */
export function chatBody({ type, alert, url }: Message): string {
  const what = HEADLINES.get(type) ?? shown(type);
  const headline = `${what} (${shown(alert.severity)}): ${shown(alert.rule_name, MAX_NAME_LENGTH)}`;
  const sentence = alertSentence(alert);
  const fields = [
    ['Fired at', shown(alert.triggered_at)],
    ...(alert.resolved_at === null ? [] : [['Resolved at', shown(alert.resolved_at)]]),
  ];
  return JSON.stringify({
    text: `${headline}\n${sentence}`,
    blocks: [
      { type: 'section', text: mrkdwn(`*${headline}*\n${sentence}`) },
      { type: 'section', fields: fields.map(([name, value]) => mrkdwn(`*${name}*\n${value}`)) },
      { type: 'context', elements: [mrkdwn(`<${escapeText(url)}|Open in Tollkeeper>`)] },
    ],
  });
}

/** Formatted text. `verbatim` stops Slack from turning parts of it into links and mentions. */
function mrkdwn(text: string) {
  return { type: 'mrkdwn', text, verbatim: true };
}
