import { createConfiguredEventLog, eventLogConfig } from '@tollkeeper/event-log';
import { createLifecycle, inBackground, runService } from '@tollkeeper/runtime';
import manifest from '../package.json' with { type: 'json' };
import { dashboardConfig } from './config.ts';
import { createDashboard } from './dashboard.service.ts';

await runService({
  name: 'dashboard',
  version: manifest.version,
  config: dashboardConfig.extend(eventLogConfig),
  create(deps) {
    const eventLog = createConfiguredEventLog(deps);
    // Requests are answered without the log. Events wait in the log.
    const log = inBackground(eventLog, deps.logger);
    return createLifecycle([log, createDashboard({ ...deps, eventLog })], deps.logger, { name: 'dashboard' });
  },
});
