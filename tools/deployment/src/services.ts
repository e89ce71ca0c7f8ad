import { createConfiguredEventLog, eventLogConfig } from '@tollkeeper/event-log';
import { createLogger, createMetrics, loadConfig } from '@tollkeeper/runtime';
import { PARTS } from '@tollkeeper/standalone';
import { SERVICES, type ServiceName, usesLog } from '@tollkeeper/topology';
import type { z } from 'zod';

/** The environment of each service in a process of its own: what its config.ts says, and the log's where it has one. */
export const SERVICE_CONFIGS = Object.fromEntries(
  SERVICES.map((service) => {
    const { config }: { config: z.ZodObject } = PARTS[service];
    return [service, usesLog(service) ? config.extend(eventLogConfig) : config];
  }),
) as Record<ServiceName, z.ZodObject>;

/** Whether `name` is a service of the table. */
export function isService(name: string): name is ServiceName {
  return Object.hasOwn(SERVICE_CONFIGS, name);
}

/** Whether a service takes a setting at all. */
export function takes(service: ServiceName, setting: string): boolean {
  return Object.hasOwn(SERVICE_CONFIGS[service].shape, setting);
}

/** The settings that a service makes of an environment. Throws what the service would print when they are of no use. */
export function readSettings(service: ServiceName, environment: Record<string, string>): Record<string, unknown> {
  const config = loadConfig(SERVICE_CONFIGS[service], environment);
  if (usesLog(service)) {
    // Settings that go together are looked at here; nothing connects before a start.
    createConfiguredEventLog({
      config,
      logger: createLogger({ service, level: 'silent' }),
      metrics: createMetrics(service),
    });
  }
  return config;
}

/** One workload calling a port of another one. */
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
