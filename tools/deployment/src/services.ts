import { createConfiguredEventLog, eventLogConfig } from '@tollkeeper/event-log';
import { createLogger, createMetrics, loadConfig } from '@tollkeeper/runtime';
import { PARTS } from '@tollkeeper/standalone';
import { SERVICES, type ServiceName, usesLog } from '@tollkeeper/topology';
import type { z } from 'zod';

/** The environment of each service in its own process: its config.ts, and the log's settings if it uses the log. */
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

/** Whether a service has this setting. */
export function takes(service: ServiceName, setting: string): boolean {
  return Object.hasOwn(SERVICE_CONFIGS[service].shape, setting);
}

/** The settings that a service reads from an environment. Throws the error that the service would print. */
export function readSettings(service: ServiceName, environment: Record<string, string>): Record<string, unknown> {
  const config = loadConfig(SERVICE_CONFIGS[service], environment);
  if (usesLog(service)) {
    // Checks settings that depend on each other; it connects only when started.
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

/** Sorted, so that two sets of calls can be compared. */
export function inOrder(calls: Call[]): string[] {
  return calls.map(({ from, to, port }) => `${from} -> ${to}:${port}`).sort();
}

/** The addresses in settings such as `IDENTITY_GRPC` and `KEYS_HTTP`. */
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
