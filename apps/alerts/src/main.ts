import { createConfiguredEventLog, eventLogConfig } from '@tollkeeper/event-log';
import { createLifecycle, inBackground, runService } from '@tollkeeper/runtime';
import manifest from '../package.json' with { type: 'json' };
import { alertsConfig } from './config.ts';
import { createAlerts } from './alerts.service.ts';

await runService({
  name: 'alerts',
  version: manifest.version,
  config: alertsConfig.extend(eventLogConfig),
  create(deps) {
    const eventLog = createConfiguredEventLog(deps);
    // Requests are answered without the log; events wait in it.
    const log = inBackground(eventLog, deps.logger);
    return createLifecycle([log, createAlerts({ ...deps, eventLog })], deps.logger, { name: 'alerts' });
  },
});
