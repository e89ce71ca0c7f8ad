import { runDataService } from '@tollkeeper/service';
import manifest from '../package.json' with { type: 'json' };
import { keysConfig } from './config.ts';
import { createKeys } from './keys.service.ts';

await runDataService({ name: 'keys', version: manifest.version, config: keysConfig, create: createKeys });
