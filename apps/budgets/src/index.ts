export { createBudgets, type BudgetsDeps, type BudgetsService } from './budgets.service.ts';
export { type BudgetsConfig, budgetsConfig } from './config.ts';
