import { createConfiguredEventLog, eventLogConfig } from '@tollkeeper/event-log';
import { createLifecycle, inBackground, runService } from '@tollkeeper/runtime';
import manifest from '../package.json' with { type: 'json' };
import { createAudit } from './audit.service.ts';
import { auditConfig } from './config.ts';

await runService({
  name: 'audit',
  version: manifest.version,
  config: auditConfig.extend(eventLogConfig),
  create(deps) {
    const eventLog = createConfiguredEventLog(deps);
    // What is recorded can be read without the log. Records wait in it.
    const log = inBackground(eventLog, deps.logger);
    return createLifecycle([log, createAudit({ ...deps, eventLog })], deps.logger, { name: 'audit' });
  },
});
