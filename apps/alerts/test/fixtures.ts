import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import type { BudgetTermsBook } from '../src/domain/budget.terms.ts';
import type { CountableEvent } from '../src/domain/event.ts';
import {
  createPartitionEvaluator,
  type PartitionEvaluator,
  type SavedWindow,
} from '../src/domain/partition.evaluator.ts';
import type { RuleBook } from '../src/domain/rule-book.ts';
import type { Rule } from '../src/domain/rule.ts';
import { type EntryForm, FIELDS, isWhole, type SavedSum } from '../src/domain/saved-sum.ts';

const tenantId = provenTenantId('ws_1');

/** An enabled rule that counts every event of its workspace, with the given changes. */
export function ruleOf(given: Partial<Rule> = {}): Rule {
  const owner = given.tenantId ?? tenantId;
  return {
    ...{ id: 'rule_1', tenantId: owner, name: 'A rule', description: '', enabled: true, severity: 'high' },
    ...{ scopeType: 'workspace', scopeId: owner, condition: { kind: 'event_count_gte', threshold: 1 } },
    ...{ windowSeconds: 60, eventTypes: [], percents: [], labels: {}, cooldownSeconds: 0 },
    ...{ channelIds: [], routes: [], groupSeconds: 0, lastFiredAt: null },
    ...{ createdAt: new Date(0), updatedAt: new Date(0), revision: 1, effectiveAt: new Date(0) },
    ...given,
  };
}

/** An event that is received at its own time, with the given changes. */
export function eventAt(time: number, given: Partial<CountableEvent> = {}): CountableEvent {
  return {
    ...{ tenantId, id: `e${time}`, type: 'tool.failed', agentId: undefined },
    ...{ time, receivedAt: time, count: 1, settledMicros: 0, percent: undefined, budget: undefined, labels: {} },
    call: undefined,
    ...{ identity: time },
    ...given,
  };
}

const NO_BUDGETS: BudgetTermsBook = { of: () => null };

/** The evaluator with workspaces in memory and their saved windows. */
export function openEvaluator(
  book: RuleBook,
  saved: readonly SavedWindow[] = [],
  tenantIds: readonly TenantId[] = [tenantId],
  budgets: BudgetTermsBook = NO_BUDGETS,
): PartitionEvaluator {
  const evaluator = createPartitionEvaluator(book, budgets);
  for (const each of tenantIds) evaluator.open(each);
  for (const window of saved) evaluator.add(window);
  return evaluator;
}

/** What a store returns for windows that were saved whole: one of those that share entries brings these. */
export function storedCopies(changed: Iterable<SavedWindow>): SavedWindow[] {
  const copies = Array.from(changed, (window) => structuredClone(window));
  const sums = copies.flatMap(({ condition }) => ('sum' in condition ? [condition.sum] : []));
  for (const shared of Map.groupBy(sums, ({ sharedAs }) => sharedAs ?? {}).values()) {
    const entries = shared.map((sum) => sum.entries).find(({ length }) => length > 0) ?? new Float64Array();
    for (const sum of shared) [sum.entries, sum.stored] = [entries, sum.size];
  }
  return copies;
}

/** What a store returns for a window that is saved after the stored ones. */
export function keepWindow(stored: ReadonlyMap<string, SavedWindow>, kept: SavedWindow): SavedWindow {
  if (!('steps' in kept.condition)) return kept;
  const before = stored.get(kept.ruleId)?.condition;
  const { steps } = kept.condition;
  const chunksBefore = before !== undefined && 'steps' in before ? before.steps.chunks : [];
  const byChunk = new Map([...chunksBefore, ...steps.chunks].map((each) => [each.chunk, each]));
  steps.chunks = [...byChunk.values()].filter(({ chunk }) => steps.kept.includes(chunk));
  return kept;
}

/** The stored state of a sum: the last whole save and all later ones. */
export interface KeptSum {
  form: EntryForm;
  saved: Float64Array[];
  size: number;
  sampleIds: string[];
  apart: boolean;
}

/** The stored state after the sum is saved again. */
export function keepSum(before: KeptSum | undefined, sum: SavedSum): KeptSum {
  const { form, entries, size, sampleIds, stored, apart } = structuredClone(sum);
  if (isWhole(sum)) return { form, saved: [entries], size, sampleIds, apart };
  const storedBefore = before?.saved.reduce((total, { length }) => total + length, 0);
  if (before?.apart !== apart || storedBefore !== FIELDS[form] * stored) {
    throw new Error('A part was saved of a sum that is not stored so.');
  }
  return { form, saved: [...before.saved, entries], size, sampleIds, apart };
}
