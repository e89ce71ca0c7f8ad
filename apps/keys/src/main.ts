import { runService } from '@tollkeeper/runtime';
import { keysConfig } from './config.ts';
import { createKeys } from './keys.service.ts';

await runService({ name: 'keys', config: keysConfig, create: createKeys });
