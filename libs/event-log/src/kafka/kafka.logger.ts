import type { Logger } from '@tollkeeper/runtime';
import kafkajs, { type LogEntry } from 'kafkajs';

/** What kafkajs tells of: its errors too, but not its requests. */
export const KAFKAJS_LOG_LEVEL = kafkajs.logLevel.INFO;

const SHOWN_FIELDS = ['broker', 'groupId', 'memberId', 'topic', 'partition', 'error', 'retryCount', 'retryTime'];

/**
 * Sends the lines of kafkajs to `logger`, until `isClosed`. All of them at level debug: what it calls an error it
 * retries, several times a second while a broker is away, and what it gives up on is logged where that has consequences.
 */
export function createLogCreator(logger: Logger, isClosed: () => boolean) {
  const own = logger.child({ library: 'kafkajs' });
  return () =>
    ({ label, namespace, log }: LogEntry): void => {
      if (isClosed()) return;
      const fields = SHOWN_FIELDS.filter((field) => log[field] !== undefined).map((field) => [field, log[field]]);
      own.debug({ namespace, label, ...Object.fromEntries(fields) }, log.message);
    };
}
