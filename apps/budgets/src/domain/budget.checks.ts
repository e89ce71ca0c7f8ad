import { isDeepStrictEqual } from 'node:util';
import { exactValueOf, invalidRequest } from '@tollkeeper/contracts';
import { AppError, type ErrorDetail } from '@tollkeeper/kernel';
import { type Budget, MAX_BUDGETS } from './budget.ts';

/** Throws `conflict` if the workspace has no room for another budget. */
export function requireRoom(budgets: readonly Budget[]): void {
  if (budgets.length < MAX_BUDGETS) return;
  throw new AppError('conflict', `The workspace has ${MAX_BUDGETS} budgets. Delete one that is not needed.`);
}

/**
 * Throws `invalid_request` if the budget does not fit to the others or to the time, and `conflict` if another one no
 * longer fits to it. `before` is null for a new budget.
 */
export function requireFit(budget: Budget, before: Budget | null, others: readonly Budget[], now: number): void {
  const problems = [...overridesProblems(budget, others), ...periodProblems(budget, before, now)];
  if (problems.length > 0) throw invalidRequest(problems, problems.length);
  const broken = others.find((other) => other.overrides === budget.id && !namesOneOf(budget, other));
  if (broken === undefined) return;
  throw new AppError(
    'conflict',
    `The budget ${broken.name} (${broken.id}) overrides this one for a value of its each. ` +
      'Change or delete that budget first.',
    { details: [{ path: 'each', message: `is needed by the budget ${broken.id}` }] },
  );
}

/** Throws `conflict` if another budget overrides the one with the id. */
export function requireNotOverridden(id: string, others: readonly Budget[]): void {
  const other = others.find(({ overrides }) => overrides === id);
  if (other === undefined) return;
  throw new AppError(
    'conflict',
    `The budget ${other.name} (${other.id}) overrides this one. Delete that budget first, or set its overrides to null.`,
  );
}

/** Whether `override` is for exactly one value of the split budget. */
function namesOneOf({ each }: Budget, override: Budget): boolean {
  return each !== null && exactValueOf(override.selector, each) !== null;
}

function overridesProblems(budget: Budget, others: readonly Budget[]): ErrorDetail[] {
  if (budget.overrides === null) return [];
  const problem = (message: string) => [{ path: 'overrides', message }];
  if (budget.overrides === budget.id) return problem('must be another budget than this one');
  const split = others.find(({ id }) => id === budget.overrides);
  if (split === undefined) {
    return problem('must be the id of a budget of this workspace that has an each; GET /api/v1/budgets lists them');
  }
  if (split.each === null) return problem(`must be a budget that has an each; ${split.id} has one limit for all calls`);
  if (!namesOneOf(split, budget)) {
    return problem(
      `is a budget with a limit for each ${split.each}, so the selector must name one ${split.each} exactly`,
    );
  }
  if (overriddenBy(split, others).includes(budget.id)) {
    return problem('must not be a budget that itself overrides this one');
  }
  return [];
}

/** The ids of the budgets that `budget` overrides, directly or through others. */
function overriddenBy(budget: Budget, others: readonly Budget[]): string[] {
  const { overrides } = budget;
  if (overrides === null) return [];
  const next = others.find(({ id }) => id === overrides);
  return [overrides, ...(next === undefined ? [] : overriddenBy(next, others))];
}

/** A period that has ended may stay, so that the budget can still be renamed or made inactive. */
function periodProblems({ period }: Budget, before: Budget | null, now: number): ErrorDetail[] {
  if (!('end' in period) || period.end > now || isDeepStrictEqual(period, before?.period)) return [];
  return [{ path: 'period.end', message: 'must be in the future' }];
}
