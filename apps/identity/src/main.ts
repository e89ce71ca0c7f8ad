import { createConfiguredEventLog, eventLogConfig } from '@tollkeeper/event-log';
import { createLifecycle, inBackground, runService } from '@tollkeeper/runtime';
import manifest from '../package.json' with { type: 'json' };
import { identityConfig } from './config.ts';
import { createIdentity } from './identity.service.ts';

await runService({
  name: 'identity',
  version: manifest.version,
  config: identityConfig.extend(eventLogConfig),
  create(deps) {
    const eventLog = createConfiguredEventLog(deps);
    // Requests are answered without the log. Events wait in the log.
    const log = inBackground(eventLog, deps.logger);
    return createLifecycle([log, createIdentity({ ...deps, eventLog })], deps.logger, { name: 'identity' });
  },
});
