import { runService } from '@tollkeeper/runtime';
import manifest from '../package.json' with { type: 'json' };
import { keysConfig } from './config.ts';
import { createKeys } from './keys.service.ts';

await runService({ name: 'keys', version: manifest.version, config: keysConfig, create: createKeys });
