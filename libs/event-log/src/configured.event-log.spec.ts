import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ConfigError, createMetrics, loadConfig } from '@tollkeeper/runtime';
import { testLogger } from '@tollkeeper/testing';
import { z } from 'zod';
import { createConfiguredEventLog, eventLogConfig } from './configured.event-log.ts';
import { toKafkaSettings } from './kafka/kafka.config.ts';

const MONGODB = { EVENT_LOG_MONGODB_URI: 'mongodb://mongo-0/' };
const KAFKA = { KAFKA_BROKERS: 'kafka-0:9092, kafka-1:9092' };
const SASL = {
  KAFKA_SASL_MECHANISM: 'scram-sha-512',
  KAFKA_SASL_USERNAME: 'tollkeeper',
  KAFKA_SASL_PASSWORD: 'a password',
};

const load = (env: NodeJS.ProcessEnv) => loadConfig(z.object(eventLogConfig), env);

function create(env: NodeJS.ProcessEnv) {
  return createConfiguredEventLog({ config: load(env), logger: testLogger().logger, metrics: createMetrics('test') });
}

/** The variables named by the error. */
function problemsOf(act: () => unknown): string[] {
  try {
    act();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ variable }) => variable);
    throw error;
  }
  return [];
}

describe('the settings of the event log', () => {
  it('name one log, in MongoDB or in Kafka; none or both are refused with both ways out', () => {
    for (const env of [{}, { ...MONGODB, ...KAFKA }]) {
      expect(problemsOf(() => create(env))).toEqual(['EVENT_LOG_MONGODB_URI', 'KAFKA_BROKERS']);
    }
    expect(create(MONGODB).name).toBe('event-log');
    expect(create(KAFKA).name).toBe('event-log');
  });

  it('say how Kafka is reached: brokers, certificates, log-in', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'tollkeeper-ca-'));
    const file = join(directory, 'ca.pem');
    await writeFile(file, 'certificates');
    const config = load({ ...KAFKA, ...SASL, KAFKA_TLS: 'true', KAFKA_TLS_CA_FILE: file });
    await rm(directory, { recursive: true });

    expect(problemsOf(() => toKafkaSettings(config, 'ingest'))).toEqual(['KAFKA_TLS_CA_FILE']);
    expect(toKafkaSettings({ ...config, KAFKA_TLS_CA_FILE: undefined }, 'ingest')).toEqual({
      brokers: ['kafka-0:9092', 'kafka-1:9092'],
      clientId: 'ingest',
      tls: {},
      sasl: { mechanism: 'scram-sha-512', username: 'tollkeeper', password: 'a password' },
    });
  });

  it('trust the certificates of the file that is named', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'tollkeeper-ca-'));
    const file = join(directory, 'ca.pem');
    await writeFile(file, 'certificates');
    const config = load({ ...KAFKA, KAFKA_TLS: 'true', KAFKA_TLS_CA_FILE: file });
    expect(toKafkaSettings(config, 'ingest').tls).toEqual({ ca: 'certificates' });
    await rm(directory, { recursive: true });
  });

  it.each([
    ['a broker without a port', { KAFKA_BROKERS: 'kafka-0' }, 'KAFKA_BROKERS'],
    ['no broker at all', { KAFKA_BROKERS: ' , ' }, 'KAFKA_BROKERS'],
    ['a mechanism that is none', { ...KAFKA, ...SASL, KAFKA_SASL_MECHANISM: 'gssapi' }, 'KAFKA_SASL_MECHANISM'],
    ['a log-in without a password', { ...KAFKA, ...SASL, KAFKA_SASL_PASSWORD: '' }, 'KAFKA_SASL_PASSWORD'],
    ['certificates without TLS', { ...KAFKA, KAFKA_TLS_CA_FILE: import.meta.filename }, 'KAFKA_TLS'],
    ['no replica', { ...KAFKA, KAFKA_REPLICATION_FACTOR: '0' }, 'KAFKA_REPLICATION_FACTOR'],
  ])('are refused by name with %s', (_what, env, variable) => {
    expect(problemsOf(() => create(env))).toEqual([variable]);
  });

  it('never show a password', () => {
    const message = String(
      (() => {
        try {
          return create({ ...KAFKA, KAFKA_SASL_PASSWORD: 'a password' });
        } catch (error) {
          return error;
        }
      })(),
    );
    expect(message).toContain('KAFKA_SASL_MECHANISM');
    expect(message).not.toContain('a password');
  });
});
