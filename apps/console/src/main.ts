import { runService } from '@tollkeeper/runtime';
import manifest from '../package.json' with { type: 'json' };
import { consoleConfig } from './config.ts';
import { createConsole } from './console.service.ts';

await runService({ name: 'console', version: manifest.version, config: consoleConfig, create: createConsole });
