import type { LogFields, Logger } from '@tollkeeper/runtime';
import kafkajs, { type LogEntry } from 'kafkajs';

/** The level of kafkajs: it logs errors and changes of its state, but not every request. */
export const KAFKAJS_LOG_LEVEL = kafkajs.logLevel.INFO;

/** The fields of kafkajs that are logged, with their names in our log lines. */
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
 * Sends the lines of kafkajs to `logger` until `isClosed`. All of them get the level debug: kafkajs logs errors that it
 * retries, several times a second while a broker is down. Errors that it does not retry reach our code, which logs
 * them.
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
