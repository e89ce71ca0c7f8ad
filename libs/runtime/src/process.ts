import { ConfigError, loadConfig } from './config.ts';
import { serviceConfig } from './config-fields.ts';
import type { Component } from './lifecycle.ts';
import { createLifecycle } from './lifecycle.ts';
import { createLogger } from './logger.ts';
import type { Logger } from './logger.ts';
import { createMetrics } from './metrics.ts';
import type { Metrics } from './metrics.ts';
import { createOpsServer } from './ops-server.ts';
import type { Tracer } from './tracing/span.ts';
import { createTracing, isTraced } from './tracing/tracing.ts';
import type { z } from 'zod';

export interface ProcessOptions {
  name: string;
  /** Makes the component of this process, which is started here. */
  build: () => Component | Promise<Component>;
  logger: Logger;
  /** Milliseconds that a drain may take before the process gives up with exit code 1. */
  stopTimeoutMs: number;
}

/**
 * Runs one component as this process. Resolves once it has started.
 *
 * SIGTERM and SIGINT drain it and exit with 0. A second signal, or a drain longer than `stopTimeoutMs`, exits with 1 at
 * once. A failed start, an unhandled rejection and an exception are logged and exit with 1.
 */
export async function runProcess({ name, build, logger, stopTimeoutMs }: ProcessOptions): Promise<void> {
  let component: Component | undefined;
  let draining = false;

  const die = (err: unknown, message: string) => {
    logger.fatal({ err }, message);
    process.exit(1);
  };
  const drain = (signal: NodeJS.Signals) => {
    if (draining) return die(undefined, `${name}: second signal, exiting without draining`);
    draining = true;
    logger.info({ signal }, `${name} is draining`);
    setTimeout(() => die(undefined, `${name} did not drain within ${stopTimeoutMs} ms`), stopTimeoutMs).unref();
    (component?.stop() ?? Promise.resolve()).then(
      () => {
        logger.info(`${name} has stopped`);
        process.exit(0);
      },
      (err: unknown) => die(err, `${name} stopped with errors`),
    );
  };
  process.on('SIGTERM', drain);
  process.on('SIGINT', drain);
  process.on('unhandledRejection', (err) => die(err, `${name}: unhandled rejection`));
  process.on('uncaughtException', (err) => die(err, `${name}: uncaught exception`));

  try {
    component = await build();
    await component.start();
  } catch (err) {
    // A signal during the start makes it fail; the drain then ends the process.
    if (!draining) die(err, `${name} could not start`);
    return;
  }
  logger.info(`${name} is ready`);
}

/** Milliseconds that a service has to drain, without `DRAIN_DELAY_MS`. Supervisors wait longer before killing it. */
export const STOP_TIMEOUT_MS = 25_000;

export interface ServiceOptions<S extends z.ZodObject> {
  /** Name of the service in logs and metrics. */
  name: string;
  /** Version from its package.json, for the first log line and `tollkeeper_build_info`. */
  version: string;
  /** All settings of the service: {@link serviceConfig} extended with its own. */
  config: S;
  /** Milliseconds that a drain may take, without `DRAIN_DELAY_MS`; {@link STOP_TIMEOUT_MS} by default. */
  stopTimeoutMs?: number;
  create: (deps: {
    config: z.infer<S>;
    logger: Logger;
    metrics: Metrics;
    tracer: Tracer | undefined;
  }) => Component | Promise<Component>;
}

/**
 * The main function of every service: reads the environment (if it is not usable, prints all problems and exits with
 * 1), makes logger, metrics and tracer, and runs the service beside its operations server.
 */
export async function runService<S extends z.ZodObject>({
  name,
  version,
  config: schema,
  stopTimeoutMs = STOP_TIMEOUT_MS,
  create,
}: ServiceOptions<S>): Promise<void> {
  const { config, common } = readEnvironment(schema);
  const logger = createLogger({
    service: name,
    level: common.LOG_LEVEL,
    pretty: common.LOG_PRETTY,
    traceIds: isTraced(common),
  });
  const metrics = createMetrics(name, version);
  logger.info({ version }, `${name} is starting`);

  const build = async () => {
    const tracing = await createTracing({ config: common, logger, metrics });
    const service = await create({ config, logger, metrics, tracer: tracing.tracerOf(name, version) });
    const drained = createLifecycle([service], logger, { name, drainDelayMs: common.DRAIN_DELAY_MS });
    const ops = createOpsServer({
      port: common.OPS_PORT,
      host: common.HOST,
      metrics: [metrics],
      ready: async () => drained.ready?.(),
      impaired: async () => drained.impaired?.(),
      logger,
    });
    return createLifecycle([tracing, ops, drained], logger, { name });
  };
  await runProcess({ name, build, logger, stopTimeoutMs: common.DRAIN_DELAY_MS + stopTimeoutMs });
}

function readEnvironment<S extends z.ZodObject>(schema: S) {
  try {
    return { config: loadConfig(schema, process.env), common: loadConfig(serviceConfig, process.env) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
