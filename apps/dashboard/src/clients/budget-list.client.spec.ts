import { expect, it } from '@jest/globals';
import { AppError, provenTenantId } from '@tollkeeper/kernel';
import { createBudgetList } from './budget-list.client.ts';

const [ONE, OTHER] = [provenTenantId('ws_1'), provenTenantId('ws_2')];

/** A budgets service that answers when it may. */
function arrange() {
  const asked: string[] = [];
  const state = { answers: Promise.withResolvers<void>() };
  const list = createBudgetList({
    async listBudgets({ tenantId }) {
      asked.push(tenantId ?? '');
      await state.answers.promise;
      return { agents: [], plans: [{ planKey: `plan ${asked.length}`, dailyBudgetUsdMicros: 1, isActive: true }] };
    },
    listActiveBudgets: async () => ({ budgets: [], pauses: [], raises: [] }),
  });
  return { asked, state, list };
}

it('requests of a workspace at the same time share an answer, and later ones find what has changed', async () => {
  const { asked, state, list } = arrange();
  const found = Promise.all([list.of(ONE), list.of(OTHER), list.of(ONE)]);
  state.answers.resolve();
  const [first, , same] = await found;
  expect(asked).toEqual([ONE, OTHER]);
  expect(same).toBe(first);
  expect(await list.of(ONE)).toMatchObject([{ selector: { plan: 'plan 3' } }]);
});

it('a failure is shared as well, and not kept', async () => {
  const { asked, state, list } = arrange();
  const found = Promise.allSettled([list.of(ONE), list.of(ONE)]);
  state.answers.reject(new AppError('service_unavailable', 'budgets is down'));
  expect(await found).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  state.answers = Promise.withResolvers();
  state.answers.resolve();
  expect(await list.of(ONE)).toHaveLength(1);
  expect(asked).toHaveLength(2);
});
