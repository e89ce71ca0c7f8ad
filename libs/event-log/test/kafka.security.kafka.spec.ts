import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type KafkaBroker, startKafka } from '@tollkeeper/embedded-kafka';
import { createMetrics } from '@tollkeeper/runtime';
import { eventually, testLogger } from '@tollkeeper/testing';
import { generate } from 'selfsigned';
import { createConfiguredEventLog, type EventLog, type EventLogConfig } from '../src/index.ts';
import { createGroupLedger } from './group.ledger.ts';

const PASSWORD = 'a-password-of-the-log';

describe('a Kafka that asks for TLS and a log-in', () => {
  const log = testLogger();
  let directory: string;
  let kafka: KafkaBroker;
  let config: EventLogConfig;

  const open = (settings: EventLogConfig): EventLog =>
    createConfiguredEventLog({ config: settings, logger: log.logger, metrics: createMetrics('test') });

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tollkeeper-secure-'));
    const { private: key, cert } = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
    });
    const keystoreFile = join(directory, 'keystore.pem');
    const caFile = join(directory, 'ca.pem');
    await writeFile(keystoreFile, `${key}\n${cert}`);
    await writeFile(caFile, cert);
    const security = { keystoreFile, username: 'tollkeeper', password: PASSWORD };
    kafka = await startKafka({ dataDirectory: join(directory, 'kafka'), security });
    config = {
      KAFKA_BROKERS: [kafka.brokers],
      KAFKA_REPLICATION_FACTOR: 1,
      KAFKA_TLS: true,
      KAFKA_TLS_CA_FILE: caFile,
      KAFKA_SASL_MECHANISM: 'plain',
      KAFKA_SASL_USERNAME: 'tollkeeper',
      KAFKA_SASL_PASSWORD: PASSWORD,
    };
  });
  afterAll(async () => {
    await kafka.stop();
    await rm(directory, { recursive: true, force: true });
  });

  it.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)('is written and read by %s', async (mechanism) => {
    const topic = `payments.${mechanism}`;
    const eventLog = open({ ...config, KAFKA_SASL_MECHANISM: mechanism });
    await eventLog.start();
    await eventLog.ensureTopic({ name: topic, partitions: 2, retentionMs: 3_600_000 });
    await eventLog.append(topic, [{ key: 'ws', value: Buffer.from('paid') }]);
    const ledger = createGroupLedger();
    const handler = ledger.handler();
    const consumer = eventLog.consumer({ group: 'readers', topic, maxRecords: 10, handler });
    await consumer.start();
    await eventually(() => expect(ledger.values()).toEqual(['paid']));
    await consumer.stop();
    await eventLog.stop();
  });

  it.each([
    ['a wrong password', { KAFKA_SASL_PASSWORD: 'another' }],
    ['a wrong password by SCRAM', { KAFKA_SASL_MECHANISM: 'scram-sha-512', KAFKA_SASL_PASSWORD: 'another' } as const],
    ['certificates that do not vouch for it', { KAFKA_TLS_CA_FILE: undefined }],
  ])('lets nobody in with %s, and the password is in no line of the log', async (_what, wrong) => {
    const eventLog = open({ ...config, ...wrong });
    await expect(eventLog.ready?.()).rejects.toThrow();
    await eventLog.stop();
    expect(log.text()).not.toContain(PASSWORD);
  });
});
