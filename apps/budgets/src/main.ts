import { runService } from '@tollkeeper/runtime';
import { createBudgets } from './budgets.service.ts';
import { budgetsConfig } from './config.ts';

await runService({ name: 'budgets', config: budgetsConfig, create: createBudgets });
