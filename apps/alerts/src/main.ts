import { runDataService } from '@tollkeeper/service';
import manifest from '../package.json' with { type: 'json' };
import { createAlerts } from './alerts.service.ts';
import { alertsConfig } from './config.ts';

await runDataService({ name: 'alerts', version: manifest.version, config: alertsConfig, create: createAlerts });
