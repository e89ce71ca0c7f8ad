import { MailFailure, type SendMail } from '@tollkeeper/mail';
import { alertMail } from '../channels/email/alert.mail.ts';
import type { ConfirmedReader, ReaderStore } from '../channels/email/reader.ts';
import type { AttemptOutcome } from '../domain/conclude-attempt.ts';
import type { MailRequest, Send } from '../domain/destination.request.ts';
import type { Message } from '../domain/message.ts';
import type { MailReceipts } from '../store/mail.receipts.ts';

/** Milliseconds of an attempt after which no further mail begins. The next attempt sends the rest. */
const LAST_START_MS = 15_000;

const NO_MAIL_SERVER =
  'Mail is not set up: the operator has to set SMTP_URL and MAIL_FROM of the notifier (docs/deployment.md).';
const NOBODY_CONFIRMED =
  'No address of the channel is confirmed. Each reader has to open the link in the mail that asked, and confirm.';

export interface MailSenderDeps {
  /** Null without a mail server. */
  send: SendMail | null;
  readers: Pick<ReaderStore, 'confirmed'>;
  receipts: MailReceipts;
  /** The links of a reader to stop, and the domain of Message-IDs. */
  linksOf: (readerId: string) => { stopUrl: string; oneClickUrl: string; domain: string };
}

/**
 * Sends a mail to each reader who has confirmed, one after the other. A repeated attempt sends only what the mail
 * server has not taken before.
 */
export function createMailSender(deps: MailSenderDeps): Send<MailRequest> {
  const { send, readers, receipts } = deps;

  return async ({ tenantId, channelId, addresses, message }, signal) => {
    if (send === null) return { kind: 'blocked', reason: NO_MAIL_SERVER };
    const confirmed = await readers.confirmed(tenantId, channelId, addresses);
    if (confirmed.length === 0) return { kind: 'blocked', reason: NOBODY_CONFIRMED };
    const run = await sendToAll({ ...deps, send }, message, confirmed, signal);
    return outcomeOf(run, confirmed.length, await receipts.rejectedOf(message.id));
  };
}

interface Run {
  /** Readers whose mail must be tried again. */
  open: number;
  /** Why, for the last of them. */
  reason: string;
}

async function sendToAll(
  { send, receipts, linksOf }: MailSenderDeps & { send: SendMail },
  message: Message,
  readers: readonly ConfirmedReader[],
  signal: AbortSignal,
): Promise<Run> {
  const over = await receipts.of(message.id);
  const rest = readers.filter(({ id }) => !over.has(id));
  const lastStart = AbortSignal.timeout(LAST_START_MS);
  const run: Run = { open: 0, reason: '' };
  for (const [index, { id, address: to }] of rest.entries()) {
    signal.throwIfAborted();
    if (lastStart.aborted) return { open: run.open + rest.length - index, reason: 'the mail server is slow' };
    try {
      await send(alertMail(message, { to, readerId: id, ...linksOf(id) }), signal);
      await receipts.add(message.id, id, 'sent');
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof MailFailure)) throw error;
      if (error.final) {
        await receipts.add(message.id, id, 'rejected');
        continue;
      }
      // Without a word of the server about this reader, others would fail too, each after its time.
      if (!error.ofRecipient) return { open: run.open + rest.length - index, reason: error.message };
      run.open += 1;
      run.reason = error.message;
    }
  }
  return run;
}

function outcomeOf({ open, reason }: Run, readers: number, rejected: number): AttemptOutcome {
  if (open > 0) {
    return {
      kind: 'unreachable',
      reason: `The mail server did not take the mail for ${open} of ${readers} addresses: ${reason}.`,
    };
  }
  if (rejected > 0) {
    const what = `The mail server rejected ${rejected} of ${readers} addresses permanently`;
    return { kind: 'blocked', reason: `${what}. Correct or remove them. Mail to the others was sent.` };
  }
  return { kind: 'answered', status: 250, snippet: `Mail sent to ${readers} of the addresses`, retryAfter: null };
}
