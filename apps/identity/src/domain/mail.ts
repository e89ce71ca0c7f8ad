import type { Role } from '@tollkeeper/kernel';
import type { RequestCause } from './auth.use-cases.ts';

/**
 * What is to be mailed. It names no link: one is made when the mail is sent, so what waits holds no secret. A reset
 * names an e-mail that may be nobody's, so that asking for one is the same work for every e-mail.
 */
export type MailOrder =
  { kind: 'reset'; email: string; request: RequestCause } | { kind: 'invitation'; invitationId: string };

/** A mail, ready to be sent. */
export interface Mail {
  /** One address. */
  to: string;
  subject: string;
  text: string;
}

/** Mails that wait to be sent. It survives a restart, and all replicas work on it. */
export interface MailQueue {
  /** False, with nothing stored, when {@link MAX_WAITING_MAILS} of the kind wait already. */
  add(order: MailOrder, now: Date): Promise<boolean>;
}

/** Orders for mail, where a mail server is configured. */
export interface Mailing {
  queue: MailQueue;
  limiter: MailLimiter;
}

/** Keeps people from being flooded with mail, and the mail server from being used for that. */
export interface MailLimiter {
  /** Counts a mail to an e-mail that somebody causes; null when it may be sent. */
  count(mail: CountedMail & { by: MailCause }): Promise<MailRefusal | null>;
  /**
   * Of a mail that was counted and is not sent: it counts no longer for who gets it. For who causes it, it does, so
   * nobody asks without end.
   */
  giveBack(mail: CountedMail): Promise<void>;
}

interface CountedMail {
  kind: MailOrder['kind'];
  to: string;
}

/** A user, or a network address where nobody is logged in. */
type MailCause = { userId: string } | { address: string };

export interface MailRefusal {
  /** Whose limit is reached: of who causes it, or of who gets it. */
  limit: 'by' | 'to';
  retryAfterSeconds: number;
}

/** Of a kind, while the mail server is down. So nobody stops the mails for passwords by invitations. */
export const MAX_WAITING_MAILS = 1_000;

interface Link {
  url: string;
  expiresAt: Date;
}

/*
 * Mails hold no text that somebody else wrote, such as the name of a person or of a workspace: whoever may invite could
 * have Tollkeeper send their own words to everybody.
 */

export function resetMail(to: string, { loginName, url, expiresAt }: Link & { loginName: string }): Mail {
  return {
    to,
    subject: 'Reset your Tollkeeper password',
    text: paragraphs(
      `Someone requested a new password for your Tollkeeper account. Your login name is ${loginName}.`,
      `Set a new password here:\n${url}`,
      `The link works once, until ${inWords(expiresAt)}. Setting a new password ends all your sessions.`,
      'If you did not request this, ignore this e-mail. Your password stays the same.',
    ),
  };
}

export function invitationMail(to: string, { slug, role, url, expiresAt }: Link & { slug: string; role: Role }): Mail {
  return {
    to,
    subject: 'Invitation to Tollkeeper',
    text: paragraphs(
      `You have been invited to the Tollkeeper workspace ${slug} as ${role}.`,
      `Join here:\n${url}`,
      `The link works once, until ${inWords(expiresAt)}. Do not share it: it verifies your e-mail address.`,
      'If you did not expect this invitation, ignore this e-mail.',
    ),
  };
}

function paragraphs(...parts: string[]): string {
  return `${parts.join('\n\n')}\n`;
}

function inWords(moment: Date): string {
  return `${moment.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
