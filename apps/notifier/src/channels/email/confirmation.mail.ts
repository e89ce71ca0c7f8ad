import { paragraphs, timeInWords } from '@tollkeeper/kernel';
import type { Mail } from '@tollkeeper/mail';

interface ConfirmationMailOptions {
  to: string;
  /** Of the workspace; undefined while identity is unreachable. */
  slug: string | undefined;
  url: string;
  expiresAt: Date;
}

/**
 * Asks a reader to confirm the address. It has no text of other people, such as the name of the channel. Otherwise
 * everybody with a channel could use Tollkeeper to send their own words to anybody.
 */
export function confirmationMail({ to, slug, url, expiresAt }: ConfirmationMailOptions): Mail {
  const workspace = slug === undefined ? 'A Tollkeeper workspace' : `The Tollkeeper workspace ${slug}`;
  return {
    to,
    subject: 'Confirm your address for Tollkeeper alerts',
    text: paragraphs(
      `${workspace} wants to send its alerts to this address.`,
      `Confirm or decline here:\n${url}`,
      `The link works once, until ${timeInWords(expiresAt)}. Until you confirm, you get no alerts.`,
      'If you did not expect this, ignore this e-mail or decline.',
    ),
  };
}
