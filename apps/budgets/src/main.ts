import { createConfiguredEventLog, eventLogConfig } from '@tollkeeper/event-log';
import { createLifecycle, inBackground, runService } from '@tollkeeper/runtime';
import manifest from '../package.json' with { type: 'json' };
import { createBudgets } from './budgets.service.ts';
import { budgetsConfig } from './config.ts';

await runService({
  name: 'budgets',
  version: manifest.version,
  config: budgetsConfig.extend(eventLogConfig),
  create(deps) {
    const eventLog = createConfiguredEventLog(deps);
    // Requests are answered without the log. Audit records wait in the database.
    const log = inBackground(eventLog, deps.logger);
    return createLifecycle([log, createBudgets({ ...deps, eventLog })], deps.logger, { name: 'budgets' });
  },
});
