import type { Message } from '../../domain/message.ts';
import { alertSentence, otherAlerts } from '../alert.sentence.ts';
import { headlineOf, linksOf, timesOf } from '../message.text.ts';

/**
 * The JSON body for a `chat` channel in the format of Slack's incoming webhooks: `text` is for notifications, `blocks`
 * for the chat.
 */
export function chatBody(message: Message): string {
  const headline = escapeText(headlineOf(message));
  const sentence = escapeText(alertSentence(message.alert));
  const links = linksOf(message).map(({ text, url }) => `<${escapeText(url)}|${text}>`);
  const others = otherAlerts(message).map(escapeText);
  return JSON.stringify({
    text: [headline, sentence, ...others].join('\n'),
    blocks: [
      { type: 'section', text: mrkdwn(`*${headline}*\n${sentence}`) },
      // Each in a block of its own, whose text has a maximum length.
      ...others.map((line) => ({ type: 'section', text: mrkdwn(line) })),
      { type: 'section', fields: timesOf(message).map(([name, value]) => mrkdwn(`*${name}*\n${escapeText(value)}`)) },
      { type: 'context', elements: [mrkdwn(links.join(' · '))] },
    ],
  });
}

/** Formatted text. `verbatim` stops Slack from turning parts of it into links and mentions. */
function mrkdwn(text: string) {
  return { type: 'mrkdwn', text, verbatim: true };
}

/** Escapes the three special characters of Slack's text, so that it contains no mentions or links. */
function escapeText(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
