import { runDataService } from '@tollkeeper/service';
import manifest from '../package.json' with { type: 'json' };
import { createAudit } from './audit.service.ts';
import { auditConfig } from './config.ts';

await runDataService({ name: 'audit', version: manifest.version, config: auditConfig, create: createAudit });
