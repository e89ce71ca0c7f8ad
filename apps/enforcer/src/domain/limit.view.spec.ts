import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import type { RaisableBudget } from './active.budgets.ts';
import type { Context } from './decision.ts';
import { applyOp } from './ledger.ts';
import { createDraft, createLedger } from './ledger.state.ts';
import { viewBudget } from './limit.view.ts';
import { NO_RAISES } from './raise.ts';

const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const STEP_MS = 60_000;
const context: Context = {
  ...{ tenantId: provenTenantId('ws_1'), now: NOON, seq: 3, isNewest: true },
  ...{ find: () => null, seqOf: () => undefined },
};
const budget: RaisableBudget = {
  raises: NO_RAISES,
  ...{ id: 'bud', name: 'bud', meter: 'bud.1', selector: {}, each: 'label:user', overrides: null, denies: true },
  ...{ period: { kind: 'rolling', seconds: 3600 }, limitMicros: 100, grantableMicros: 100, tellAt: [50] },
};

/** A ledger with the steps of the last minutes, newest first: what each user has spent in it. */
function arrange(steps: readonly (readonly [user: string, micros: number])[][]) {
  const ledger = createLedger();
  applyOp(ledger, { op: 'day', start: Date.parse('2026-11-21'), end: Date.parse('2026-11-22'), timezone: 'UTC' });
  for (const [index, spent] of steps.entries()) {
    const start = NOON - index * STEP_MS;
    applyOp(ledger, { op: 'period', meter: 'bud.1', start, end: start + STEP_MS, until: start + 60 * STEP_MS });
    for (const [user, micros] of spent) ledger.account(['bud.1', start, user])!.posted = micros;
  }
  return createDraft(ledger);
}

async function viewOf(ledger: ReturnType<typeof arrange>, max: number) {
  const decided = await viewBudget(budget, max).decide(ledger, context);
  if (!('answer' in decided)) throw new Error('It was not decided');
  return decided.answer.items.map(({ budget: of, spentMicros }) => [of?.value, spentMicros]);
}

it('a budget with a limit for each shows the values with the most spend of all its steps, the first of equal ones', async () => {
  const few = Array.from({ length: 300 }, (_, n) => [`few-${n}`, 5] as const);
  const ledger = arrange([
    [...few, ['bob', 7], ['ann', 20], ['zoe', 8]],
    [
      ['zoe', 30],
      ['bob', 13],
    ],
  ]);
  expect(await viewOf(ledger, 2)).toEqual([
    ['zoe', 38],
    ['bob', 20],
  ]);
  expect(await viewOf(ledger, 5)).toEqual([
    ...[
      ['zoe', 38],
      ['bob', 20],
      ['ann', 20],
    ],
    ['few-0', 5],
    ['few-1', 5],
  ]);
});

it('a view of very many values lets everything else in the process run meanwhile', async () => {
  const steps = Array.from({ length: 5 }, (_, step) =>
    Array.from({ length: 20_000 }, (__, n) => [`user-${step}-${n}`, n] as const),
  );
  const ledger = arrange(steps);
  let turns = 0;
  const ended = new AbortController();
  const others = (async () => {
    for (; !ended.signal.aborted; turns += 1) await nextTurn();
  })();
  const view = await viewOf(ledger, 1).finally(() => ended.abort());
  await others;
  expect(view).toEqual([['user-4-19999', 19_999]]);
  expect(turns).toBeGreaterThan(2);
});
