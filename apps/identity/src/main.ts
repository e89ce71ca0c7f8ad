import { runDataService } from '@tollkeeper/service';
import manifest from '../package.json' with { type: 'json' };
import { identityConfig } from './config.ts';
import { createIdentity } from './identity.service.ts';

await runDataService({ name: 'identity', version: manifest.version, config: identityConfig, create: createIdentity });
