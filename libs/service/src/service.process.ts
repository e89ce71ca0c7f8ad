import { createConfiguredEventLog, type EventLog, eventLogConfig } from '@tollkeeper/event-log';
import {
  type Component,
  createLifecycle,
  inBackground,
  runService,
  type ServiceDeps,
  type ServiceOptions,
} from '@tollkeeper/runtime';
import type { z } from 'zod';

interface DataServiceOptions<S extends z.ZodObject> extends Omit<ServiceOptions<S>, 'create'> {
  create: (deps: ServiceDeps<z.infer<S>> & { eventLog: EventLog }) => Component;
}

/**
 * The `main.ts` of a service that works without the event log for a while: it answers requests, and its records for the
 * log wait in its database. Adds the log's settings to the service's own.
 */
export async function runDataService<S extends z.ZodObject>(options: DataServiceOptions<S>): Promise<void> {
  const { name, create } = options;
  await runService({
    ...options,
    config: options.config.extend(eventLogConfig),
    create(deps) {
      const eventLog = createConfiguredEventLog(deps);
      // The result of the wider schema includes all of the service's own settings.
      const service = create({ ...deps, config: deps.config as z.infer<S>, eventLog });
      return createLifecycle([inBackground(eventLog, deps.logger), service], deps.logger, { name });
    },
  });
}
