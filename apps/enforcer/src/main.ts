import { createConfiguredEventLog, eventLogConfig } from '@tollkeeper/event-log';
import { createLifecycle, inBackground, runService } from '@tollkeeper/runtime';
import manifest from '../package.json' with { type: 'json' };
import { enforcerConfig } from './config.ts';
import { createEnforcer } from './enforcer.service.ts';

await runService({
  name: 'enforcer',
  version: manifest.version,
  config: enforcerConfig.extend(eventLogConfig),
  create(deps) {
    const eventLog = createConfiguredEventLog(deps);
    // Reservations are granted and denied without the log. Spend waits in the log.
    const log = inBackground(eventLog, deps.logger);
    return createLifecycle([log, createEnforcer({ ...deps, eventLog })], deps.logger, { name: 'enforcer' });
  },
});
