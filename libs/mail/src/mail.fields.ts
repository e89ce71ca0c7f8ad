import { secret } from '@tollkeeper/runtime';
import { z } from 'zod';
import { type SmtpServer, smtpUrl } from './smtp.url.ts';

/** The settings of a service that sends mail. Add {@link hasSender} to its checks. */
export const mailFields = {
  SMTP_URL: secret(
    smtpUrl
      .optional()
      .describe(
        'mail server for invitations, password resets and e-mail channels: smtps://user:password@host:465, or smtp://user:password@host:587 with STARTTLS; ?tls=none after smtp:// turns encryption off; default no mail is sent',
      ),
  ),
  MAIL_FROM: z
    .email('must be an e-mail address')
    .optional()
    .describe('sender address of e-mails, such as tollkeeper@example.com; required with SMTP_URL'),
};

type MailConfig = z.infer<z.ZodObject<typeof mailFields>>;

export interface MailSettings {
  server: SmtpServer;
  /** The address that mails come from. */
  from: string;
}

/** Whether a configured mail server has a sender; the path of the problem is `MAIL_FROM`. */
export function hasSender({ SMTP_URL, MAIL_FROM }: MailConfig): boolean {
  return SMTP_URL === undefined || MAIL_FROM !== undefined;
}

/** Null without a mail server. */
export function mailSettingsOf({ SMTP_URL: server, MAIL_FROM: from }: MailConfig): MailSettings | null {
  return server === undefined || from === undefined ? null : { server, from };
}
