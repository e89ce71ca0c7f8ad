import { paragraphs } from '@tollkeeper/kernel';
import type { Mail } from '@tollkeeper/mail';
import type { Message } from '../../domain/message.ts';
import { alertSentence, otherAlerts } from '../alert.sentence.ts';
import { headlineOf, linksOf, timesOf } from '../message.text.ts';

const WHY = 'You get this mail because you confirmed this address for alerts of Tollkeeper.';

interface AlertMailOptions {
  to: string;
  readerId: string;
  /** The page on which the reader stops these mails. */
  stopUrl: string;
  /** Where mail programs send the reader's wish to stop (RFC 8058). */
  oneClickUrl: string;
  /** The domain of Message-IDs. */
  domain: string;
}

/**
 * The mail about a message to one reader. All mails about an alert are one thread. If the rule groups its alerts, each
 * mail is a thread, since those that are resolved together may have fired in several mails.
 */
export function alertMail(message: Message, options: AlertMailOptions): Mail {
  const { to, readerId, stopUrl, oneClickUrl, domain } = options;
  const { alert } = message;
  const links = linksOf(message);
  const headline = headlineOf(message);
  const sentence = alertSentence(alert);
  const others = otherAlerts(message);
  const times = timesOf(message);
  const first = `${idPart(alert.id)}.${readerId}@${domain}`;
  // Mail programs show mails as one thread only if they also have the same subject.
  const id = `${idPart(message.id)}.${readerId}@${domain}`;
  const beginning = message.group === undefined ? first : id;
  const place =
    BEGINNINGS.has(message.type) || message.group !== undefined
      ? { subject: headline, id: beginning }
      : { subject: `Re: ${firstHeadlineOf(message)}`, id, thread: first };
  return {
    to,
    ...place,
    headers: {
      'List-Unsubscribe': `<${oneClickUrl}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
    text: paragraphs(
      headline,
      sentence,
      times.map(([name, value]) => `${name}: ${value}`).join('\n'),
      ...(others.length > 0 ? [others.join('\n')] : []),
      links.map(({ text, url }) => `${text}:\n${url}`).join('\n'),
      `${WHY} Stop these mails:\n${stopUrl}`,
    ),
    html: page(
      `<h1 style="font-size:18px">${escaped(headline)}</h1>`,
      `<p>${escaped(sentence)}</p>`,
      `<p>${times.map(([name, value]) => `${escaped(name)}: ${escaped(value)}`).join('<br>')}</p>`,
      ...(others.length > 0 ? [`<ul>${others.map((line) => `<li>${escaped(line)}</li>`).join('')}</ul>`] : []),
      `<p>${links.map(({ text, url }) => link(url, text)).join(' · ')}</p>`,
      `<p style="font-size:12px">${WHY} ${link(stopUrl, 'Stop these mails')}</p>`,
    ),
  };
}

/** The mails that begin a thread. */
const BEGINNINGS = new Set(['alert.fired', 'channel.test']);

function firstHeadlineOf(message: Message): string {
  return headlineOf({ ...message, type: 'alert.fired' });
}

/** Ids may have characters that a Message-ID cannot have. */
function idPart(id: string): string {
  return id.replace(/[^A-Za-z0-9._-]/g, '-').slice(0, 128);
}

function page(...parts: string[]): string {
  const style = 'font-family:sans-serif;font-size:14px;max-width:600px';
  return `<!doctype html><html lang="en"><body style="${style}">${parts.join('\n')}</body></html>\n`;
}

function link(url: string, text: string): string {
  return `<a href="${escaped(url)}">${text}</a>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
