import { alertsConfig } from '@tollkeeper/alerts';
import { budgetsConfig } from '@tollkeeper/budgets';
import { dashboardConfig } from '@tollkeeper/dashboard';
import { createConfiguredEventLog, eventLogConfig } from '@tollkeeper/event-log';
import { gatewayConfig } from '@tollkeeper/gateway';
import { identityConfig } from '@tollkeeper/identity';
import { ingestConfig } from '@tollkeeper/ingest';
import { keysConfig } from '@tollkeeper/keys';
import { notifierConfig } from '@tollkeeper/notifier';
import { createLogger, createMetrics, loadConfig } from '@tollkeeper/runtime';
import type { z } from 'zod';

/** The environment of each service of the fleet, as its main.ts reads it. */
export const SERVICE_CONFIGS: Record<string, z.ZodObject> = {
  alerts: alertsConfig.extend(eventLogConfig),
  budgets: budgetsConfig,
  dashboard: dashboardConfig.extend(eventLogConfig),
  gateway: gatewayConfig,
  identity: identityConfig.extend(eventLogConfig),
  ingest: ingestConfig.extend(eventLogConfig),
  keys: keysConfig,
  notifier: notifierConfig.extend(eventLogConfig),
};

export const SERVICES = Object.keys(SERVICE_CONFIGS);

/** Whether a service takes a setting at all. */
export function takes(service: string, setting: string): boolean {
  return Object.hasOwn(SERVICE_CONFIGS[service]?.shape ?? {}, setting);
}

/** The settings that a service makes of an environment. Throws what the service would print when they are of no use. */
export function readSettings(service: string, environment: Record<string, string>): Record<string, unknown> {
  const schema = SERVICE_CONFIGS[service];
  if (schema === undefined) throw new Error(`There is no service ${service}`);
  const config = loadConfig(schema, environment);
  if (takes(service, 'KAFKA_BROKERS')) {
    // Settings that go together are looked at here; nothing connects before a start.
    createConfiguredEventLog({
      config,
      logger: createLogger({ service, level: 'silent' }),
      metrics: createMetrics(service),
    });
  }
  return config;
}

/** One service calling a port of another one. */
export interface Call {
  from: string;
  to: string;
  port: number;
}

/** In an order of their own, so that two sets of calls can be compared. */
export function inOrder(calls: Call[]): string[] {
  return calls.map(({ from, to, port }) => `${from} -> ${to}:${port}`).sort();
}

/** What settings such as `IDENTITY_GRPC` and `KEYS_HTTP` lead to. */
export function calledAddresses(environment: Record<string, string>): Address[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    const protocol = /_(GRPC|HTTP)$/.exec(name)?.[1]?.toLowerCase();
    if (protocol === undefined) return [];
    const { hostname: host, port } = new URL(value.includes('://') ? value : `${protocol}://${value}`);
    return [{ protocol, host, port: Number(port) }];
  });
}

interface Address {
  /** `grpc` or `http`. */
  protocol: string;
  host: string;
  port: number;
}
