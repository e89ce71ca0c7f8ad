import { runService } from '@tollkeeper/runtime';
import manifest from '../package.json' with { type: 'json' };
import { createBudgets } from './budgets.service.ts';
import { budgetsConfig } from './config.ts';

await runService({ name: 'budgets', version: manifest.version, config: budgetsConfig, create: createBudgets });
