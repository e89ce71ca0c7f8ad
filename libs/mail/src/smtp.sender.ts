import type { Transporter } from 'nodemailer';
import type { Mail } from './mail.ts';
import type { MailSettings } from './mail.fields.ts';

/** Milliseconds. */
interface SendLimits {
  /** Until the server has sent its greeting. */
  connectMs: number;
  /**
   * For the whole attempt. Servers that scan the text may answer late, and a mail that is aborted then arrives twice.
   */
  attemptMs: number;
}

const LIMITS: SendLimits = { connectMs: 10_000, attemptMs: 60_000 };

/** Sends a mail to the mail server, unless `stopped` is aborted before. Rejects with a {@link MailFailure}. */
export type SendMail = (mail: Mail, stopped: AbortSignal) => Promise<void>;

/** Why a mail was not accepted. It names neither the mail nor the person, so it may be logged. */
export class MailFailure extends Error {
  /** The server refuses this mail permanently. */
  readonly final: boolean;
  /** The failure is about the recipient: mails to others may succeed. */
  readonly ofRecipient: boolean;

  constructor(reason: string, final: boolean, ofRecipient = final) {
    super(reason);
    this.name = 'MailFailure';
    this.final = final;
    this.ofRecipient = ofRecipient;
  }
}

/**
 * Each mail has its own connection. Without TLS, nothing is sent, not even the credentials, unless the URL allows it.
 */
export function createSmtpSender({ server, from }: MailSettings, limits = LIMITS): SendMail {
  const { host, port, tls, auth } = server;
  const { connectMs, attemptMs } = limits;
  let transport: Transporter | undefined;
  /** The library is loaded with the first mail, because most processes send none. */
  async function open(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer');
    return createTransport({
      ...{ host, port, auth, secure: tls === 'implicit', requireTLS: tls === 'starttls', ignoreTLS: tls === 'none' },
      ...{ dnsTimeout: connectMs, connectionTimeout: connectMs, greetingTimeout: connectMs, socketTimeout: attemptMs },
      ...{ disableFileAccess: true, disableUrlAccess: true },
    });
  }

  return async ({ to, subject, text, html, id, thread, headers: further }, stopped) => {
    const late = AbortSignal.timeout(attemptMs);
    try {
      // In this form, the text is a single address, whatever it contains.
      const [sender, receiver] = [
        { name: 'Tollkeeper', address: from },
        { name: '', address: to },
      ];
      const headers = { 'Auto-Submitted': 'auto-generated', ...further };
      const signal = AbortSignal.any([late, stopped]);
      transport ??= await open();
      await transport.sendMail({
        ...{ from: sender, to: receiver, subject, text, headers, signal },
        ...(html !== undefined && { html }),
        ...(id !== undefined && { messageId: `<${id}>` }),
        ...(thread !== undefined && { inReplyTo: `<${thread}>`, references: `<${thread}>` }),
      });
    } catch (error) {
      if (late.aborted) throw new MailFailure(`ETIMEDOUT: The mail was not taken within ${attemptMs} ms`, false);
      throw toFailure(error);
    }
  };
}

interface NodemailerError extends Error {
  code: string;
  command: string;
  responseCode: number;
}

/** Failures of the connection, such as a certificate that is not trusted. */
const OF_CONNECTION = ['ECONNECTION', 'EDNS', 'ESOCKET', 'ETIMEDOUT', 'ETLS'];

const REFUSED_LOG_IN = 'The mail server refuses the log-in. Check user and password of SMTP_URL';

/**
 * Messages of the server, and errors about the mail, may contain the address or the credentials, because servers may
 * repeat what they were sent. Of those, only codes are reported.
 */
function toFailure(error: unknown): MailFailure {
  const { code = 'unknown', message = '', command, responseCode = 0 } = error as Partial<NodemailerError>;
  let reason = code;
  if (code === 'EAUTH' && responseCode >= 500) reason = `${code} ${responseCode}: ${REFUSED_LOG_IN}`;
  else if (responseCode !== 0) reason = `${code} ${responseCode}`;
  else if (OF_CONNECTION.includes(code)) reason = `${code}: ${message}`;
  // Final if the recipient or the text is refused. Refused credentials or senders are for the operator to fix.
  const isOfRecipient = command === 'RCPT TO' || code === 'EMESSAGE';
  return new MailFailure(reason, isOfRecipient && responseCode >= 500, isOfRecipient);
}
