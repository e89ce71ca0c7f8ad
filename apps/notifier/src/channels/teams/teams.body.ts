import type { Message } from '../../domain/message.ts';
import { alertSentence, otherAlerts } from '../alert.sentence.ts';
import { headlineOf, linksOf, timesOf } from '../message.text.ts';

/**
 * The JSON body for an incoming webhook of Teams: an Adaptive Card. Text that people typed is only in text runs, which
 * have no Markdown, so it contains no links or mentions.
 */
export function teamsBody(message: Message): string {
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      paragraph({ text: headlineOf(message), weight: 'Bolder', size: 'Medium' }),
      paragraph({ text: alertSentence(message.alert) }),
      ...otherAlerts(message).map((text) => paragraph({ text })),
      { type: 'FactSet', facts: timesOf(message).map(([title, value]) => ({ title, value })) },
    ],
    actions: linksOf(message).map(({ text, url }) => ({ type: 'Action.OpenUrl', title: text, url })),
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return JSON.stringify({ type: 'message', attachments: [{ contentType, contentUrl: null, content: card }] });
}

function paragraph(run: { text: string; weight?: 'Bolder'; size?: 'Medium' }) {
  return { type: 'RichTextBlock', inlines: [{ type: 'TextRun', ...run }] };
}
