import { createConfiguredEventLog, eventLogConfig } from '@tollkeeper/event-log';
import { createLifecycle, runService } from '@tollkeeper/runtime';
import manifest from '../package.json' with { type: 'json' };
import { dashboardConfig } from './config.ts';
import { createDashboard } from './dashboard.service.ts';

await runService({
  name: 'dashboard',
  version: manifest.version,
  config: dashboardConfig.extend(eventLogConfig),
  create(deps) {
    const eventLog = createConfiguredEventLog(deps);
    return createLifecycle([eventLog, createDashboard({ ...deps, eventLog })], deps.logger, { name: 'dashboard' });
  },
});
