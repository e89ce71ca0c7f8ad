import { runDataService } from '@tollkeeper/service';
import manifest from '../package.json' with { type: 'json' };
import { enforcerConfig } from './config.ts';
import { createEnforcer } from './enforcer.service.ts';

await runDataService({ name: 'enforcer', version: manifest.version, config: enforcerConfig, create: createEnforcer });
