import { paragraphs, type Role, timeInWords } from '@tollkeeper/kernel';
import type { RequestCause } from './auth.use-cases.ts';

/**
 * A mail to send. It has no link: that is made on sending, so the queue holds no secrets. A reset may name an e-mail
 * that belongs to nobody, so requesting one is the same work for every e-mail.
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

/** Mails that wait to be sent. The queue survives restarts, and all replicas work on it. */
export interface MailQueue {
  /** False, with nothing stored, if {@link MAX_WAITING_MAILS} of the kind already wait. */
  add(order: MailOrder, now: Date): Promise<boolean>;
}

/** Present if a mail server is configured. */
export interface Mailing {
  queue: MailQueue;
  limiter: MailLimiter;
}

/** Protects people from floods of mail, and the mail server from abuse. */
export interface MailLimiter {
  /** Counts a mail that somebody causes to an e-mail; null if it may be sent. */
  count(mail: CountedMail & { by: MailCause }): Promise<MailRefusal | null>;
  /**
   * For a counted mail that is not sent: it no longer counts for the recipient. It still counts for whoever caused it,
   * which bounds their requests.
   */
  giveBack(mail: CountedMail): Promise<void>;
}

interface CountedMail {
  kind: MailOrder['kind'];
  to: string;
}

/** A user, or a network address if nobody is logged in. */
type MailCause = { userId: string } | { address: string };

export interface MailRefusal {
  /** Whose limit is reached: that of the cause (`by`), or of the recipient (`to`). */
  limit: 'by' | 'to';
  retryAfterSeconds: number;
}

/** Per kind, while the mail server is down. So invitations cannot block mails about passwords. */
export const MAX_WAITING_MAILS = 1_000;

interface Link {
  url: string;
  expiresAt: Date;
}

/*
 * Mails contain no text that other people wrote, such as names of people or workspaces. Otherwise everybody who may
 * invite could use Tollkeeper to send their own words to anybody.
 */

export function resetMail(to: string, { loginName, url, expiresAt }: Link & { loginName: string }): Mail {
  return {
    to,
    subject: 'Reset your Tollkeeper password',
    text: paragraphs(
      `Someone requested a new password for your Tollkeeper account. Your login name is ${loginName}.`,
      `Set a new password here:\n${url}`,
      `The link works once, until ${timeInWords(expiresAt)}. Setting a new password ends all your sessions.`,
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
      `The link works once, until ${timeInWords(expiresAt)}. Do not share it: it verifies your e-mail address.`,
      'If you did not expect this invitation, ignore this e-mail.',
    ),
  };
}
