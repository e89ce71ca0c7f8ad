import type { LogFields, Logger } from '@tollkeeper/runtime';
import kafkajs, { type LogEntry } from 'kafkajs';

/** What kafkajs tells of: its errors too, but not its requests. */
export const KAFKAJS_LOG_LEVEL = kafkajs.logLevel.INFO;

/** What is shown of a line of kafkajs, by the names that all lines have. */
const FIELDS: Record<string, keyof LogFields> = {
  broker: 'broker',
  groupId: 'group',
  memberId: 'member',
  topic: 'topic',
  partition: 'partition',
  error: 'reason',
  retryCount: 'failures',
  retryTime: 'retry_ms',
};

/**
 * Sends the lines of kafkajs to `logger`, until `isClosed`. All of them at level debug: what it calls an error it
 * retries, several times a second while a broker is away, and what it gives up on is logged where that has
 * consequences.
 */
export function createLogCreator(logger: Logger, isClosed: () => boolean) {
  const own = logger.child({ library: 'kafkajs' });
  return () =>
    ({ label, namespace, log }: LogEntry): void => {
      if (isClosed()) return;
      const shown = Object.entries(FIELDS).filter(([field]) => log[field] !== undefined);
      const fields: LogFields = Object.fromEntries(shown.map(([field, name]) => [name, log[field]]));
      own.debug({ ...fields, component: namespace }, `${label}: ${log.message}`);
    };
}
