import { runDataService } from '@tollkeeper/service';
import manifest from '../package.json' with { type: 'json' };
import { dashboardConfig } from './config.ts';
import { createDashboard } from './dashboard.service.ts';

await runDataService({
  name: 'dashboard',
  version: manifest.version,
  config: dashboardConfig,
  create: createDashboard,
});
