import { expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { createMetrics } from '@tollkeeper/runtime';
import { testLogger } from '@tollkeeper/testing';
import { type ActiveBudget, createActiveBudgets } from '../src/domain/active.budgets.ts';
import type { Ask } from '../src/domain/decision.ts';
import { applyOp } from '../src/domain/ledger.ts';
import { createLedger } from '../src/domain/ledger.state.ts';
import { viewLimits } from '../src/domain/limit.view.ts';
import { reserve } from '../src/domain/reserve.ts';
import { settle } from '../src/domain/settle.ts';
import { createLedgerMetrics } from '../src/ledger/ledger.metrics.ts';
import { createWorkspaceLedger } from '../src/ledger/workspace.ledger.ts';
import { UNKNOWN } from './calls.ts';
import { numbers } from './history.answers.ts';
import { ALONE, createMemoryJournal, createMemorySnapshots } from './memory.stores.ts';

const TENANT = provenTenantId('ws_paris');
const HOUR = 3_600_000;
const MINUTE = 60_000;
const at = (text: string) => Date.parse(text);
/** The calendar of Europe/Paris in UTC. On 29 March, clocks go from 2 to 3 o'clock. */
const MARCH = { start: at('2026-02-28T23:00:00Z'), end: at('2026-03-31T22:00:00Z') };
const APRIL = { start: MARCH.end, end: at('2026-04-30T22:00:00Z') };
const DAYS = ['28T23', '29T22', '30T22', '31T22'].map((day) => at(`2026-03-${day}:00:00Z`));
const DAY_STARTS = [at('2026-03-27T23:00:00Z'), ...DAYS, at('2026-04-01T22:00:00Z')];
const BEGINNING = at('2026-03-28T07:00:00Z');
const END = at('2026-04-02T19:00:00Z');
const STEP = 30 * MINUTE;

const month = { kind: 'month', startMonth: 1, startDay: 1 } as const;
const common = { selector: {}, overrides: null, denies: true, tellAt: [] };
const budget = (id: string, of: Pick<ActiveBudget, 'period' | 'each' | 'limitMicros'> & Partial<ActiveBudget>) => ({
  ...{ ...common, id, name: id, meter: `${id}.1`, grantableMicros: of.limitMicros, ...of },
});
const TEAMS = budget('teams', { period: month, each: 'label:team', limitMicros: 13_000 });
const AGENTS = budget('agents', { period: { ...month, kind: 'day' }, each: 'agent', limitMicros: 1_600 });
const FAMILY = budget('family', { period: month, each: null, limitMicros: 9_000, selector: { model: 'large-*' } });
const BUDGETS = createActiveBudgets([TEAMS, AGENTS, FAMILY], 1);

/** A reservation as its gateway knows it. */
interface Call {
  requestId: string;
  agentId: string;
  model: string;
  team: string;
  amount: number;
  at: number;
  /** Null while it is open. */
  cost: number | null;
  id: string;
}

const journal = createMemoryJournal();
const snapshots = createMemorySnapshots();
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const AGENT_IDS = ['planner', 'coder', 'critic', 'night-shift'];
const MODELS = ['large-1', 'large-2', 'small'];
const NEVER = new Promise<never>(() => undefined);
let now = BEGINNING;

/** A replica that ends without warning: what it appends may reach the journal, but is not answered any more. */
function startReplica() {
  let isKilled = false;
  const killed = Promise.withResolvers<'killed'>();
  const ledger = createWorkspaceLedger(TENANT, {
    ...{ snapshots, timezoneOf: async () => 'Europe/Paris', ...ALONE, clock: () => now },
    ...{ metrics: createLedgerMetrics(createMetrics('paris')), logger: testLogger().logger },
    journal: {
      ...journal,
      async append(...args) {
        await turn();
        if (isKilled) return NEVER;
        const appended = await journal.append(...args);
        await turn();
        return isKilled ? NEVER : appended;
      },
    },
  });
  return {
    submit: <Answer>(ask: Ask<Answer>) => Promise.race([ledger.submit(ask), killed.promise]),
    saveSnapshot: () => ledger.saveSnapshot(),
    kill() {
      isKilled = true;
      killed.resolve('killed');
    },
  };
}

it('Paris, 28 March to 2 April: no limit is passed on three replicas that are killed, and all spend is in its period', async () => {
  const next = numbers(20_260_329);
  const pick = <T>(of: readonly T[]): T => of[next(of.length)]!;
  const replicas = [startReplica(), startReplica(), startReplica()];
  const calls: Call[] = [];
  const denied = new Map<string, number>();
  let kills = 0;

  /** Like a gateway: again, with the same ids, until a replica answers. */
  async function ask<Answer>(of: Ask<Answer>): Promise<Answer> {
    for (;;) {
      const answer = await pick(replicas).submit(of);
      if (answer !== 'killed') return answer;
    }
  }
  const countedIn = (of: (call: Call) => boolean) =>
    calls.filter(of).reduce((sum, { cost, amount }) => sum + (cost ?? amount), 0);
  const monthOf = (time: number) => (time < MARCH.end ? MARCH : APRIL);
  const dayOf = (time: number) => DAY_STARTS.findLast((start) => start <= time)!;

  const anyCall = () => ({
    ...{ agentId: pick(AGENT_IDS.slice(0, 3)), model: pick(MODELS), amount: 1 + next(120) },
    team: next(8) === 0 ? 'sales' : 'growth',
  });

  async function reserveOne(requestId: string, { agentId, model, team, amount } = anyCall()): Promise<void> {
    const labels = { team };
    const call = { agent: agentId, plan: null, model, provider: null, key: null, labels };
    const asked = { requestId, agentId, runId: 'run', planKey: null, amountMicros: amount, ttlSeconds: 80_000 };
    const limits = BUDGETS.limitsFor(call, now);
    const answer = await ask(reserve({ ...UNKNOWN, ...asked, model, labels, limits, dryRun: false }, BUDGETS));
    if (answer.decision === 'denied') {
      const { scopeId, spentMicros, heldMicros, limitMicros } = answer.denial;
      expect(spentMicros + heldMicros + amount).toBeGreaterThan(limitMicros);
      denied.set(scopeId, (denied.get(scopeId) ?? 0) + 1);
      return;
    }
    calls.push({ requestId, agentId, model, team, amount, at: now, cost: null, id: answer.reservation!.id });
  }
  async function settleOne(call: Call): Promise<void> {
    const amountMicros = next(call.amount + 1);
    await ask(settle(call.id, { settlementId: `s-${call.id}`, amountMicros }, BUDGETS));
    call.cost = amountMicros;
  }

  /** Each limit, from what the gateways know: where it is, what counts in it, and what it lets pass. */
  const wanted = () => [
    ...['growth', 'sales'].map((team) => {
      const micros = countedIn((call) => call.team === team && monthOf(call.at) === monthOf(now));
      return { limit: BUDGETS.limitOf(TEAMS.meter, team)!, period: monthOf(now), micros };
    }),
    ...AGENT_IDS.map((agentId) => {
      const start = dayOf(now);
      const end = DAY_STARTS.find((day) => day > now) ?? start + 24 * HOUR;
      const micros = countedIn((call) => call.agentId === agentId && dayOf(call.at) === start);
      return { limit: BUDGETS.limitOf(AGENTS.meter, agentId)!, period: { start, end }, micros };
    }),
    {
      ...{ limit: BUDGETS.limitOf(FAMILY.meter, '')!, period: monthOf(now) },
      micros: countedIn((call) => call.model !== 'small' && monthOf(call.at) === monthOf(now)),
    },
  ];

  for (let step = 0; now < END; step += 1, now += STEP) {
    const ended = calls.filter(({ cost, at: time }) => cost === null && (next(4) === 0 || time < now - 9 * HOUR));
    const work = [
      ...Array.from({ length: 4 }, (_, index) => reserveOne(`${step}-${index}`)),
      ...ended.map((call) => settleOne(call)),
    ];
    if (now === MARCH.end - STEP) {
      work.push(reserveOne('of March', { agentId: 'night-shift', model: 'small', team: 'sales', amount: 50 }));
    }
    if (next(3) === 0) {
      for (let turns = next(4); turns > 0; turns -= 1) await turn();
      const one = next(3);
      replicas[one]!.kill();
      replicas[one] = startReplica();
      kills += 1;
    }
    await Promise.all(work);
    if (next(10) === 0) await pick(replicas).saveSnapshot();

    const limits = wanted();
    const { day, items } = await ask(viewLimits(limits.map(({ limit }) => limit)));
    expect(day.start).toBe(dayOf(now));
    for (const [index, { limit, period, micros }] of limits.entries()) {
      const { spentMicros, heldMicros, period: found } = items[index]!;
      expect({ name: limit.scopeId, ...found, micros: spentMicros + heldMicros }).toEqual({
        ...{ name: limit.scopeId, ...period, micros },
      });
      expect(micros).toBeLessThanOrEqual(limit.limitMicros);
    }
  }

  expect((MARCH.end - MARCH.start) / HOUR).toBe(743);
  expect((DAYS[1]! - DAYS[0]!) / HOUR).toBe(23);
  expect(kills).toBeGreaterThan(30);
  for (const { id } of [TEAMS, AGENTS, FAMILY]) expect(denied.get(id)).toBeGreaterThan(0);
  // Reserved in the last half hour of March, and settled in April.
  expect(calls.find(({ requestId }) => requestId === 'of March')?.cost).not.toBeNull();
  const ledger = createLedger();
  for await (const { ops } of journal.readAfter(TENANT, 0)) for (const op of ops) applyOp(ledger, op);
  for (const { start } of [MARCH, APRIL]) {
    for (const team of ['growth', 'sales']) {
      const { posted, held } = ledger.readAccount([TEAMS.meter, start, team])!;
      if (start === MARCH.start) expect(held).toBe(0);
      expect(posted + held).toBe(countedIn((call) => call.team === team && monthOf(call.at).start === start));
    }
  }
});
