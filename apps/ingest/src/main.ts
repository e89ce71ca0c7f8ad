import { createConfiguredEventLog, eventLogConfig } from '@tollkeeper/event-log';
import { createLifecycle, runService } from '@tollkeeper/runtime';
import manifest from '../package.json' with { type: 'json' };
import { ingestConfig } from './config.ts';
import { createIngest } from './ingest.service.ts';

await runService({
  name: 'ingest',
  version: manifest.version,
  config: ingestConfig.extend(eventLogConfig),
  create(deps) {
    const eventLog = createConfiguredEventLog(deps);
    return createLifecycle([eventLog, createIngest({ ...deps, eventLog })], deps.logger, { name: 'ingest' });
  },
});
