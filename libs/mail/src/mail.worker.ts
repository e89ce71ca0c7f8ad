import type { Clock } from '@tollkeeper/kernel';
import { createLoop, type Logger, type Loop } from '@tollkeeper/runtime';
import type { Mail } from './mail.ts';
import { MailFailure, type SendMail } from './smtp.sender.ts';

/** A mail of a queue. It has no link: that is made on sending, so the queue holds no secrets. */
interface WaitingMail<Order> {
  id: string;
  order: Order;
  /** Includes the one in progress. */
  attempts: number;
}

/** Mails that wait to be sent. The queue survives restarts, and all replicas work on it. */
export interface WaitingMails<Order> {
  /** Claims the mail that has waited longest, until `until`. Nobody else takes it before then. */
  claim(now: Date, until: Date): Promise<WaitingMail<Order> | null>;
  postpone(id: string, until: Date): Promise<void>;
  /** Removes a mail that was sent, that `write` did not make, or that the mail server rejects permanently. */
  remove(id: string, because: 'sent' | 'dropped' | 'rejected'): Promise<void>;
  isEmpty(): Promise<boolean>;
}

interface MailWorkerDeps<Order> {
  store: WaitingMails<Order>;
  /** Makes the link and the text; null if there is no recipient, or nothing to report any more. */
  write: (order: Order) => Promise<Mail | null>;
  send: SendMail;
  clock: Clock;
  logger: Logger;
  /** Milliseconds between two looks for mails. Default: 1 s. */
  intervalMs?: number | undefined;
}

const INTERVAL_MS = 1_000;
/** Concurrent mails in this process. */
const CONCURRENCY = 4;
/** Longer than an attempt. After that, another replica takes over the mails of a killed one. */
const LEASE_MS = 2 * 60_000;
const FIRST_RETRY_MS = 10_000;
const LAST_RETRY_MS = 5 * 60_000;
/** How long a stop waits for the mails in progress, so that few are aborted that the server has just accepted. */
const STOP_GRACE_MS = 2_000;

/** Sends the mails of the queue, separately from all requests. A mail server that is down or hangs delays only mail. */
export function createMailWorker<Order>(deps: MailWorkerDeps<Order>): Loop {
  const { store, write, send, clock, logger, intervalMs = INTERVAL_MS } = deps;
  const stopped = new AbortController();
  let stopping = false;
  let failure: string | null = null;

  async function deliver({ id, order, attempts }: WaitingMail<Order>): Promise<void> {
    const mail = await write(order);
    try {
      if (mail !== null) {
        await send(mail, stopped.signal);
        failure = null;
      }
      await store.remove(id, mail === null ? 'dropped' : 'sent');
    } catch (error) {
      if (!(error instanceof MailFailure)) throw error;
      // A server that refuses one mail permanently accepts others.
      failure = error.final ? null : error.message;
      if (error.final) {
        logger.warn({ reason: error.message, attempts }, 'the mail server rejected an e-mail; it will not be sent');
        await store.remove(id, 'rejected');
        return;
      }
      logger.warn({ reason: error.message, attempts }, 'an e-mail could not be sent; retrying');
      const waitMs = Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), LAST_RETRY_MS);
      await store.postpone(id, new Date(clock() + waitMs));
    }
  }

  async function sendDue(): Promise<void> {
    while (!stopping) {
      const now = clock();
      const waiting = await store.claim(new Date(now), new Date(now + LEASE_MS));
      if (waiting === null) return;
      await deliver(waiting);
    }
  }

  async function work(): Promise<void> {
    await Promise.all(Array.from({ length: CONCURRENCY }, sendDue));
    // Another replica may have sent the mail that failed here.
    if (failure !== null && (await store.isEmpty())) failure = null;
  }

  const loop = createLoop({
    name: 'mail-worker',
    work,
    intervalMs,
    logger,
  });
  return {
    ...loop,
    async stop() {
      stopping = true;
      const timer = setTimeout(() => stopped.abort(), STOP_GRACE_MS);
      await loop.stop();
      clearTimeout(timer);
    },
    async impaired() {
      if (failure !== null) throw new Error(`the mail server is not accepting mail: ${failure}`);
    },
  };
}
