import { expect, it } from '@jest/globals';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { testLogger } from '@tollkeeper/testing';
import type { BudgetTerms } from '../domain/budget.terms.ts';
import { createBudgetBook } from './budget.book.ts';

const terms: BudgetTerms = {
  ...{ id: 'bud_1', name: 'Users', limitMicros: 1, timezone: 'UTC', selector: {}, each: null, excluded: [] },
  period: { kind: 'day', startMonth: 1, startDay: 1 },
};

function arrange(count = 1) {
  const tenants = Array.from({ length: count }, (_, n) => provenTenantId(`ws_${n}`));
  const asked: TenantId[] = [];
  const state = { limitMicros: 1, isDown: false, now: 1 };
  const book = createBudgetBook({
    book: { tenantsWithBudgets: () => tenants },
    async read(tenantId) {
      asked.push(tenantId);
      if (state.isDown) throw new Error('budgets is down');
      return new Map([['bud_1', { ...terms, limitMicros: state.limitMicros }]]);
    },
    logger: testLogger().logger,
    clock: () => (state.now += 1),
  });
  return { tenants, asked, state, book };
}

it('a budget is unknown until it is read, and keeps its last terms while budgets is down', async () => {
  const { tenants, state, book } = arrange();
  const [tenantId] = tenants as [TenantId];
  state.isDown = true;
  await book.learn();
  expect(book.of(tenantId, 'bud_1')).toBeUndefined();
  state.isDown = false;
  await book.refresh();
  expect([book.of(tenantId, 'bud_1')?.limitMicros, book.of(tenantId, 'bud_2')]).toEqual([1, null]);
  [state.isDown, state.limitMicros] = [true, 2];
  await book.refresh();
  expect(book.of(tenantId, 'bud_1')?.limitMicros).toBe(1);
  state.isDown = false;
  await book.refresh();
  expect(book.of(tenantId, 'bud_1')?.limitMicros).toBe(2);
  tenants.length = 0;
  await book.refresh();
  expect(book.of(tenantId, 'bud_1')).toBeUndefined();
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
