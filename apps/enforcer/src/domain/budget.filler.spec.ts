import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AppError, provenTenantId } from '@tollkeeper/kernel';
import { NO_BUDGETS } from '../../test/calls.ts';
import { createBudgetFiller } from './budget.filler.ts';
import type { Context } from './decision.ts';
import { applyOp } from './ledger.ts';
import { createLedger } from './ledger.state.ts';
import type { SettlementPage } from './peers.ts';

const TENANT = provenTenantId('ws_1');
const NOON = Date.parse('2026-11-21T12:00:00.000Z');
const LAST_PAGE: SettlementPage = { spend: [], cursor: '', readUntil: NOON };
const down = () => Promise.reject(new AppError('service_unavailable', 'The dashboard is down.'));

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A ledger with a meter to be filled, and its filler. */
function arrange(read: () => Promise<SettlementPage>) {
  const ledger = createLedger();
  applyOp(ledger, { op: 'day', start: Date.parse('2026-11-21'), end: Date.parse('2026-11-22'), timezone: 'UTC' });
  applyOp(ledger, { op: 'begin', cut: 1, at: NOON, meters: [['bud.1', Date.parse('2026-11-01')]] });
  const context: Context = {
    ...{ tenantId: TENANT, now: NOON, seq: 2, isNewest: true, find: () => null, seqOf: () => undefined },
  };
  const log = { readAt: [] as number[], failures: 0, reports: 0, pages: [] as string[] };
  const thresholds = { reportAccounts: async () => void (log.reports += 1) };
  const startedAt = Date.now();
  const filler = createBudgetFiller({
    async submit(_tenantId, ask) {
      const decided = ask.decide(ledger, context);
      if (!('answer' in decided)) throw new Error('It was not decided');
      return decided.answer;
    },
    budgets: NO_BUDGETS,
    settlements: {
      read() {
        log.readAt.push((Date.now() - startedAt) / 1000);
        return read();
      },
    },
    thresholds: { reportAccounts: () => thresholds.reportAccounts() },
    clock: () => NOON,
    onPage: (outcome) => log.pages.push(outcome),
    onFailure: () => (log.failures += 1),
  });
  return { filler, log, thresholds };
}

describe('the filler of budgets', () => {
  it('tries a page again after 2 s, and after growing pauses of up to a minute while the dashboard is down', async () => {
    const { filler, log } = arrange(down);
    filler.wake(TENANT);
    await jest.advanceTimersByTimeAsync(190_000);
    // Waking it does not shorten the pause.
    filler.wake(TENANT);
    await filler.stop();
    expect(log.readAt).toEqual([0, 2, 6, 14, 30, 62, 122, 182]);
    expect(log.failures).toBe(8);
  });

  it('pauses 2 s again once the dashboard has answered', async () => {
    const answers = [down, down, async () => ({ ...LAST_PAGE, cursor: 'next' }), down, down];
    const { filler, log } = arrange(() => (answers.shift() ?? (async () => LAST_PAGE))());
    filler.wake(TENANT);
    await jest.advanceTimersByTimeAsync(60_000);
    await filler.stop();
    expect(log.readAt).toEqual([0, 2, 6, 6, 8, 12]);
    expect(log.pages).toEqual(['filled', 'filled']);
  });

  it('reports thresholds again that could not be reported, although no page is left', async () => {
    const { filler, log, thresholds } = arrange(async () => LAST_PAGE);
    const report = thresholds.reportAccounts;
    thresholds.reportAccounts = down;
    filler.wake(TENANT);
    await jest.advanceTimersByTimeAsync(1_000);
    thresholds.reportAccounts = report;
    expect(log).toMatchObject({ failures: 1, reports: 0, pages: ['filled'] });
    await jest.advanceTimersByTimeAsync(60_000);
    await filler.stop();
    expect(log).toMatchObject({ readAt: [0], failures: 1, reports: 1 });
  });

  it('stops at once while the dashboard does not answer, and drops an answer that arrives later', async () => {
    const answer = Promise.withResolvers<SettlementPage>();
    const { filler, log } = arrange(() => answer.promise);
    filler.wake(TENANT);
    await jest.advanceTimersByTimeAsync(0);
    await filler.stop();
    answer.resolve(LAST_PAGE);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(log).toMatchObject({ readAt: [0], pages: [], failures: 0 });
  });
});
