import { readFileSync } from 'node:fs';
import {
  ConfigError,
  type ConfigProblem,
  flagField,
  hostPortField,
  integerField,
  listField,
  secret,
} from '@tollkeeper/runtime';
import type { SASLOptions } from 'kafkajs';
import { z } from 'zod';
import type { KafkaSettings } from './kafka.client.ts';

/** Environment variables that say how to reach a Kafka cluster. Without `KAFKA_BROKERS`, the others are ignored. */
export const kafkaFields = {
  KAFKA_BROKERS: listField()
    .pipe(z.array(hostPortField()).min(1, 'must name a broker'))
    .optional()
    .describe('host:port of brokers of the Kafka cluster for the event log, separated by commas'),
  KAFKA_REPLICATION_FACTOR: integerField({ min: 1, max: 15 })
    .prefault('3')
    .describe('replicas of each topic that a service creates; 1 for a cluster of one broker; default 3'),
  KAFKA_TLS: flagField().prefault('false').describe('true for connections over TLS; default false'),
  KAFKA_TLS_CA_FILE: z
    .string()
    .optional()
    .describe('PEM file of the certificates trusted for brokers, with KAFKA_TLS; default those of the system'),
  KAFKA_SASL_MECHANISM: z
    .enum(['plain', 'scram-sha-256', 'scram-sha-512'])
    .optional()
    .describe('plain, scram-sha-256 or scram-sha-512; default no authentication'),
  KAFKA_SASL_USERNAME: secret(z.string().optional().describe('user name for KAFKA_SASL_MECHANISM')),
  KAFKA_SASL_PASSWORD: secret(z.string().optional().describe('password of KAFKA_SASL_USERNAME')),
};

/** The settings that {@link kafkaFields} parse. Fields with a default may be absent. */
export type KafkaConfig = Partial<z.infer<z.ZodObject<typeof kafkaFields>>>;

/** Throws a ConfigError that names the variables if they contradict each other. */
export function toKafkaSettings(config: KafkaConfig, clientId: string): KafkaSettings {
  const problems: ConfigProblem[] = [];
  const settings = {
    brokers: config.KAFKA_BROKERS ?? [],
    clientId,
    ...toTls(config, problems),
    ...toSasl(config, problems),
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return settings;
}

function toTls({ KAFKA_TLS, KAFKA_TLS_CA_FILE: file }: KafkaConfig, problems: ConfigProblem[]) {
  if (file === undefined) return KAFKA_TLS ? { tls: {} } : {};
  if (!KAFKA_TLS) problems.push({ variable: 'KAFKA_TLS', message: 'must be true if KAFKA_TLS_CA_FILE is set' });
  try {
    return { tls: { ca: readFileSync(file, 'utf8') } };
  } catch (error) {
    problems.push({ variable: 'KAFKA_TLS_CA_FILE', message: `cannot be read: ${(error as Error).message}` });
    return {};
  }
}

function toSasl(config: KafkaConfig, problems: ConfigProblem[]): { sasl?: SASLOptions } {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = config;
  if (mechanism === undefined && username === undefined && password === undefined) return {};
  if (mechanism !== undefined && username !== undefined && password !== undefined) {
    return { sasl: { mechanism, username, password } as SASLOptions };
  }
  const together = 'must be set together with the other two of KAFKA_SASL_MECHANISM, _USERNAME and _PASSWORD';
  if (mechanism === undefined) problems.push({ variable: 'KAFKA_SASL_MECHANISM', message: together });
  if (username === undefined) problems.push({ variable: 'KAFKA_SASL_USERNAME', message: together });
  if (password === undefined) problems.push({ variable: 'KAFKA_SASL_PASSWORD', message: together });
  return {};
}
