import { expect, it } from '@jest/globals';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { createMetrics } from '@tollkeeper/runtime';
import { testLogger } from '@tollkeeper/testing';
import type { BudgetTerms } from '../domain/budget.terms.ts';
import { createBudgetBook } from './budget.book.ts';

const terms: BudgetTerms = {
  ...{ id: 'bud_1', name: 'Users', limitMicros: 1, timezone: 'UTC', selector: {}, each: null, excluded: [] },
  period: { kind: 'day', startMonth: 1, startDay: 1 },
};

function arrange(count = 1) {
  const tenants = Array.from({ length: count }, (_, n) => provenTenantId(`ws_${n}`));
  const budgets = new Map<TenantId, ReadonlySet<string>>(tenants.map((tenantId) => [tenantId, new Set(['bud_1'])]));
  const asked: TenantId[] = [];
  const logs = testLogger();
  const metrics = createMetrics('alerts');
  const state = { limitMicros: 1, isDown: false, isSilent: false, now: 1 };
  const book = createBudgetBook({
    book: { budgets },
    async read(tenantId) {
      asked.push(tenantId);
      if (state.isDown) throw new Error('budgets is down');
      if (state.isSilent) await new Promise(() => undefined);
      return new Map(['bud_1', 'bud_2'].map((id) => [id, { ...terms, id, limitMicros: state.limitMicros }]));
    },
    logger: logs.logger,
    metrics,
    clock: () => (state.now += 1),
  });
  return { tenants, budgets, asked, state, book, logs, metrics };
}

it('a budget is unknown until it is read, and keeps its last terms while budgets is down', async () => {
  const { tenants, budgets, state, book } = arrange();
  const [tenantId] = tenants as [TenantId];
  budgets.set(tenantId, new Set(['bud_1', 'bud_3']));
  state.isDown = true;
  await book.learn(new Set(tenants));
  expect(book.of(tenantId, 'bud_1')).toBeUndefined();
  state.isDown = false;
  await book.refresh();
  expect([book.of(tenantId, 'bud_1')?.limitMicros, book.of(tenantId, 'bud_3')]).toEqual([1, null]);
  [state.isDown, state.limitMicros] = [true, 2];
  await book.refresh();
  expect(book.of(tenantId, 'bud_1')?.limitMicros).toBe(1);
  state.isDown = false;
  await book.refresh();
  expect(book.of(tenantId, 'bud_1')?.limitMicros).toBe(2);
  budgets.clear();
  await book.refresh();
  expect(book.of(tenantId, 'bud_1')).toBeUndefined();
});

it('a budget that a new rule names is read before its first event, and others are not kept', async () => {
  const { tenants, budgets, state, book } = arrange();
  const [tenantId] = tenants as [TenantId];
  await book.refresh();
  expect(book.of(tenantId, 'bud_2')).toBeUndefined();
  budgets.set(tenantId, new Set(['bud_1', 'bud_2']));
  // The event may come while the background reads it already.
  const reading = book.refresh();
  await book.learn(new Set(tenants));
  expect(book.of(tenantId, 'bud_2')?.id).toBe('bud_2');
  await reading;
  // The rule may go while its budget is read.
  const learning = book.refresh();
  budgets.set(tenantId, new Set(['bud_1']));
  await Promise.all([learning, book.refresh()]);
  expect([book.of(tenantId, 'bud_1')?.id, book.of(tenantId, 'bud_2')]).toEqual(['bud_1', undefined]);
  state.isSilent = true;
  void book.refresh();
  await book.learn(new Set(tenants));
});

it('evaluation waits for budgets only with events of workspaces whose budgets were never asked for', async () => {
  const { asked, state, book } = arrange(120);
  state.isSilent = true;
  await book.learn(new Set(['ws_without_rules']));
  expect(asked).toEqual([]);
  state.isSilent = false;
  await book.learn(new Set(['ws_7']));
  expect(asked).toEqual(['ws_7']);
  [state.isDown, asked.length] = [true, 0];
  await book.learn(new Set(['ws_7', 'ws_8']));
  await book.learn(new Set(['ws_8']));
  expect(asked).toEqual(['ws_8']);
});

it('of many workspaces, each turn reads fifty, and those first that were not read for the longest time', async () => {
  const { tenants, asked, book } = arrange(120);
  for (const expected of [
    tenants.slice(0, 50),
    tenants.slice(50, 100),
    [...tenants.slice(100), ...tenants.slice(0, 30)],
  ]) {
    asked.length = 0;
    await book.refresh();
    expect(new Set(asked)).toEqual(new Set(expected));
  }
});

it('an outage of budgets is one line however many workspaces it concerns and however long it takes, and is counted', async () => {
  const { tenants, budgets, state, book, logs, metrics } = arrange(3);
  const valueOf = async (name: string) => (await metrics.registry.getSingleMetric(name)!.get()).values[0]?.value;
  const written = () => logs.lines().map(({ level, msg, failures }) => [level, msg, failures]);
  const began = ['warn', 'budgets cannot be read; rules go on with the last known budgets', undefined];
  state.isDown = true;
  for (let turn = 0; turn < 4; turn += 1) await book.refresh();
  expect(written()).toEqual([began]);
  expect(await valueOf('alerts_workspaces_without_budgets')).toBe(3);
  expect(await valueOf('alerts_budget_read_failures_total')).toBe(12);
  // The rules of one workspace go during the outage.
  budgets.delete(tenants[0]!);
  state.isDown = false;
  await book.refresh();
  expect(written()).toEqual([began, ['info', 'budgets can be read again', 12]]);
  expect(await valueOf('alerts_workspaces_without_budgets')).toBe(0);
  state.isDown = true;
  await book.refresh();
  expect(written().slice(2)).toEqual([began]);
});
