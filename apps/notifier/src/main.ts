import { runDataService } from '@tollkeeper/service';
import manifest from '../package.json' with { type: 'json' };
import { notifierConfig } from './config.ts';
import { createNotifier } from './notifier.service.ts';

await runDataService({ name: 'notifier', version: manifest.version, config: notifierConfig, create: createNotifier });
