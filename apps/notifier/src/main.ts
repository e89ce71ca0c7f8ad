import { createConfiguredEventLog, eventLogConfig } from '@tollkeeper/event-log';
import { createLifecycle, runService } from '@tollkeeper/runtime';
import { notifierConfig } from './config.ts';
import { createNotifier } from './notifier.service.ts';

await runService({
  name: 'notifier',
  config: notifierConfig.extend(eventLogConfig),
  create(deps) {
    const eventLog = createConfiguredEventLog(deps);
    return createLifecycle([eventLog, createNotifier({ ...deps, eventLog })], deps.logger, { name: 'notifier' });
  },
});
