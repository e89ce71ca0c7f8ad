import { expect, it } from '@jest/globals';
import { isSpendSettled } from '@tollkeeper/contracts';
import { AppError, provenTenantId } from '@tollkeeper/kernel';
import { createMetrics } from '@tollkeeper/runtime';
import { testLogger } from '@tollkeeper/testing';
import type { Submit } from '../src/domain/decision.ts';
import { createLeases } from '../src/domain/lease.use-cases.ts';
import { createLedgerMetrics } from '../src/ledger/ledger.metrics.ts';
import { createWorkspaceLedger } from '../src/ledger/workspace.ledger.ts';
import { NO_BUDGETS } from './calls.ts';
import { ALONE, createMemoryJournal, createMemorySnapshots } from './memory.stores.ts';

const tenantId = provenTenantId('ws_repeats');
const KEY = { tenantId, keyId: null, labels: {} };
const REQUEST = {
  ...{ requestId: 'lease-1', agentId: 'planner', planKey: null, amountMicros: 100, minMicros: 1, ttlSeconds: 60 },
  ...{ runId: null, model: null, provider: null, labels: {} },
};

it('settlements whose answer was lost are not in the log a second time when they are repeated', async () => {
  const clock = () => Date.parse('2026-11-23T12:00:00.000Z');
  const ledger = createWorkspaceLedger(tenantId, {
    ...{ journal: createMemoryJournal(), snapshots: createMemorySnapshots(), timezoneOf: async () => 'UTC', ...ALONE },
    ...{ metrics: createLedgerMetrics(createMetrics('enforcer')), clock, logger: testLogger().logger },
  });
  const lost = new AppError('service_unavailable', 'The answer is lost.');
  const network = { isDown: false };
  const submit: Submit = async (_, ask) => {
    const answer = await ledger.submit(ask);
    if (network.isDown && ask.weight !== undefined) throw lost;
    return answer;
  };
  const appended: unknown[] = [];
  const leases = createLeases({
    submit,
    append: async (_, events) =>
      void appended.push(...events.map(({ event }) => isSpendSettled(event) && event.data.settlement_id)),
    limits: { applying: async () => ({ limits: [], plan: 'none' }), of: async () => [], all: async () => [] },
    ...{ budgets: NO_BUDGETS, agents: { seen: () => undefined }, agentLabels: { labelsOf: () => new Map() } },
    ...{ denials: { report: async () => undefined }, clock, onDecision: () => undefined, onUsedUp: () => undefined },
  });
  const decided = await leases.grant(KEY, REQUEST);
  const id = 'lease' in decided ? decided.lease.id : '';
  const cost = (settlementId: string) => ({ settlementId, runId: 'run', amountMicros: 10 });
  network.isDown = true;
  await expect(leases.settle(tenantId, id, [cost('s-1'), cost('s-2')])).rejects.toBe(lost);
  network.isDown = false;
  const { results } = await leases.settle(tenantId, id, [cost('s-1'), cost('s-2'), cost('s-3')]);
  expect(results.map(({ outcome }) => outcome)).toEqual(['settled', 'settled', 'settled']);
  expect(appended).toEqual(['s-1', 's-2', 's-3']);
});
