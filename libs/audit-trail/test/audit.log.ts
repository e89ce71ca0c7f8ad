import { AUDIT_TOPIC, AUDIT_TOPIC_OPTIONS, decodeAuditRecord, type ReadAuditRecord } from '@tollkeeper/contracts';
import { createConfiguredEventLog, type EventLog } from '@tollkeeper/event-log';
import { newId } from '@tollkeeper/kernel';
import { createMetrics } from '@tollkeeper/runtime';
import { eventually, testLogger } from '@tollkeeper/testing';

/** Reads the audit records in a log. */
export interface AuditReader {
  start(): Promise<void>;
  stop(): Promise<void>;
  /**
   * The records of the workspace in the order of the log, without duplicates, once there are `count`. Returns all that
   * there are, so a test that compares them notices surplus records.
   */
  records(tenantId: string, count: number): Promise<ReadAuditRecord[]>;
}

export function createAuditReader(eventLog: EventLog): AuditReader {
  const read = new Map<string, ReadAuditRecord>();
  const handler = {
    position: async () => null,
    async handle({ records }: { records: { value: Buffer }[] }) {
      for (const record of records.map(({ value }) => decodeAuditRecord(value))) read.set(record.id, record);
    },
  };
  const consumer = eventLog.consumer({ group: newId('run'), topic: AUDIT_TOPIC, handler, maxRecords: 100 });
  return {
    async start() {
      await eventLog.ensureTopic(AUDIT_TOPIC_OPTIONS);
      await consumer.start();
    },
    stop: () => consumer.stop(),
    records: (tenantId, count) =>
      eventually(() => {
        const found = [...read.values()].filter((record) => record.tenantId === tenantId);
        if (found.length >= count) return found;
        throw new Error(`The log has ${found.length} records of the workspace in place of ${count}`);
      }),
  };
}

/** A log in MongoDB for a service under test that writes nothing but audit records. */
export interface TestAuditLog extends AuditReader {
  readonly database: string;
  /** Valid once started. */
  readonly eventLog: EventLog;
}

export function createAuditLog(mongo: { uri: string; newDatabase(): string }): TestAuditLog {
  const { logger } = testLogger();
  const database = mongo.newDatabase();
  let started: { eventLog: EventLog; reader: AuditReader } | undefined;
  const get = () => {
    if (started === undefined) throw new Error('The log is not started yet');
    return started;
  };

  return {
    database,
    get eventLog() {
      return get().eventLog;
    },
    async start() {
      const config = { EVENT_LOG_MONGODB_URI: mongo.uri, EVENT_LOG_DATABASE: database };
      const eventLog = createConfiguredEventLog({ config, logger, metrics: createMetrics('audit-log') });
      await eventLog.start();
      const reader = createAuditReader(eventLog);
      await reader.start();
      started = { eventLog, reader };
    },
    async stop() {
      await started?.reader.stop();
      await started?.eventLog.stop();
    },
    records: (tenantId, count) => get().reader.records(tenantId, count),
  };
}
