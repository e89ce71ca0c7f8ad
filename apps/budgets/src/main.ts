import { runDataService } from '@tollkeeper/service';
import manifest from '../package.json' with { type: 'json' };
import { createBudgets } from './budgets.service.ts';
import { budgetsConfig } from './config.ts';

await runDataService({ name: 'budgets', version: manifest.version, config: budgetsConfig, create: createBudgets });
