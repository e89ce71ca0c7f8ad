import { createConfiguredEventLog, eventLogConfig } from '@tollkeeper/event-log';
import { createLifecycle, inBackground, runService } from '@tollkeeper/runtime';
import manifest from '../package.json' with { type: 'json' };
import { notifierConfig } from './config.ts';
import { createNotifier } from './notifier.service.ts';

await runService({
  name: 'notifier',
  version: manifest.version,
  config: notifierConfig.extend(eventLogConfig),
  create(deps) {
    const eventLog = createConfiguredEventLog(deps);
    // Requests are answered without the log. Events wait in the log.
    const log = inBackground(eventLog, deps.logger);
    return createLifecycle([log, createNotifier({ ...deps, eventLog })], deps.logger, { name: 'notifier' });
  },
});
