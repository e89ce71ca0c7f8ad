import { createConfiguredEventLog, eventLogConfig } from '@tollkeeper/event-log';
import { createLifecycle, inBackground, runService } from '@tollkeeper/runtime';
import manifest from '../package.json' with { type: 'json' };
import { keysConfig } from './config.ts';
import { createKeys } from './keys.service.ts';

await runService({
  name: 'keys',
  version: manifest.version,
  config: keysConfig.extend(eventLogConfig),
  create(deps) {
    const eventLog = createConfiguredEventLog(deps);
    // Requests are answered without the log. Audit records wait in the database.
    const log = inBackground(eventLog, deps.logger);
    return createLifecycle([log, createKeys({ ...deps, eventLog })], deps.logger, { name: 'keys' });
  },
});
