import type { Transporter } from 'nodemailer';
import type { Mail } from '../domain/mail.ts';
import type { SmtpServer } from './smtp.url.ts';

/** Milliseconds. */
interface SendLimits {
  /** Until the server has greeted. */
  connectMs: number;
  /**
   * Of an attempt as a whole, however much the server says. One that looks into the text may answer late, and a mail
   * that is given up then comes twice.
   */
  attemptMs: number;
}

const LIMITS: SendLimits = { connectMs: 10_000, attemptMs: 60_000 };

/** Hands a mail to the mail server, unless `stopped` is aborted before. Rejects with a {@link MailFailure}. */
export type SendMail = (mail: Mail, stopped: AbortSignal) => Promise<void>;

/** Why a mail was not taken. It names neither the mail nor the person, so it may be logged. */
export class MailFailure extends Error {
  /** The server refuses this mail permanently. */
  readonly final: boolean;

  constructor(reason: string, final: boolean) {
    super(reason);
    this.name = 'MailFailure';
    this.final = final;
  }
}

/**
 * Every mail has a connection of its own. Without TLS nothing is sent, the log-in included, unless the address says so.
 */
export function createSmtpSender(server: SmtpServer, from: string, limits = LIMITS): SendMail {
  const { host, port, tls, auth } = server;
  const { connectMs, attemptMs } = limits;
  let transport: Transporter | undefined;
  /** The library is loaded with the first mail: most processes send none. */
  async function open(): Promise<Transporter> {
    const { createTransport } = await import('nodemailer');
    return createTransport({
      ...{ host, port, auth, secure: tls === 'implicit', requireTLS: tls === 'starttls', ignoreTLS: tls === 'none' },
      ...{ dnsTimeout: connectMs, connectionTimeout: connectMs, greetingTimeout: connectMs, socketTimeout: attemptMs },
      ...{ disableFileAccess: true, disableUrlAccess: true },
    });
  }

  return async ({ to, subject, text }, stopped) => {
    const late = AbortSignal.timeout(attemptMs);
    try {
      // An address in this form is one, whatever is in it.
      const [sender, receiver] = [
        { name: 'Tollkeeper', address: from },
        { name: '', address: to },
      ];
      const headers = { 'Auto-Submitted': 'auto-generated' };
      const signal = AbortSignal.any([late, stopped]);
      transport ??= await open();
      await transport.sendMail({ from: sender, to: receiver, subject, text, headers, signal });
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
 * Words of the server, and about the mail, may have the address or the log-in in them: a server may repeat what it was
 * sent. Of those only codes are told.
 */
function toFailure(error: unknown): MailFailure {
  const { code = 'unknown', message = '', command, responseCode = 0 } = error as Partial<NodemailerError>;
  let reason = code;
  if (code === 'EAUTH' && responseCode >= 500) reason = `${code} ${responseCode}: ${REFUSED_LOG_IN}`;
  else if (responseCode !== 0) reason = `${code} ${responseCode}`;
  else if (OF_CONNECTION.includes(code)) reason = `${code}: ${message}`;
  // The receiver or the text. A log-in or a sender that is refused is for the operator to mend.
  const final = (command === 'RCPT TO' || code === 'EMESSAGE') && responseCode >= 500;
  return new MailFailure(reason, final);
}
