import { describe, expect, it } from '@jest/globals';
import {
  type BudgetBlockedEvent,
  type BudgetThresholdReachedEvent,
  gatewayEventSchema,
  isSpendSettled,
} from '@tollkeeper/contracts';
import { sampleHistory } from './sample-history.ts';

const UNTIL = Date.parse('2026-11-21T18:20:00.000Z');
const DAY_MS = 86_400_000;

describe('the sample history', () => {
  const events = [...sampleHistory(UNTIL)].flat();

  it('is the same, ids included, each time that it is made for the same end', () => {
    expect([...sampleHistory(UNTIL)].flat()).toEqual(events);
  });

  it('holds only events that ingestion takes', () => {
    for (const event of events) expect(gatewayEventSchema.parse(event)).toEqual(event);
  });

  it('uses up the budget of a day by runs in the order of their beginnings', () => {
    const begun = new Map<string, string>();
    for (const { id, time } of events.filter((event) => event.id.endsWith('.0'))) {
      const agentId = id.split('.')[1]!;
      expect(time >= (begun.get(agentId) ?? '')).toBe(true);
      begun.set(agentId, time);
    }
  });

  it('gives every event and every settlement an id of its own', () => {
    const settlements = events.filter(isSpendSettled).map(({ data }) => data.settlement_id);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    expect(new Set(settlements).size).toBe(settlements.length);
  });

  it('covers the month before its end, every day of it, and nothing after it', () => {
    const agesMs = events.map(({ time }) => UNTIL - Date.parse(time));
    const days = new Set(agesMs.map((ageMs) => Math.floor(ageMs / DAY_MS)));
    for (let day = 0; day < 31; day += 1) expect(days).toContain(day);
    expect(Math.min(...agesMs)).toBeGreaterThanOrEqual(0);
  });

  it('shows spend, blocked budgets and blocked guards, and more of them on working days than on weekends', () => {
    for (const shown of ['spend.settled', 'budget.blocked', 'guard.blocked']) {
      expect(events.filter(({ type }) => type === shown).length).toBeGreaterThan(50);
    }
    const weekend = events.filter(({ time }) => [0, 6].includes(new Date(time).getUTCDay()));
    expect(weekend.length / events.length).toBeLessThan(0.25);
  });

  it('blocks an agent once its daily budget is used up, never before', () => {
    const blocked = events.filter((event): event is BudgetBlockedEvent => event.type === 'budget.blocked');
    for (const { data } of blocked) {
      expect(data.spent_micros).toBe(data.daily_budget_usd_micros);
      expect(data.requested_micros).toBeGreaterThan(0);
    }
  });

  it('reports once a day when an agent has spent 50%, 80% and 100% of its daily budget, then of the blocked calls', () => {
    const days = new Map<string, { spent: number; reached: number[]; blocked: boolean }>();
    for (const event of events) {
      // A run counts for the budget of the day on which it began.
      const [, agentId, hour] = event.id.split('.');
      const key = `${agentId}/${Math.floor(Number(hour) / 24)}`;
      const day = days.get(key) ?? { spent: 0, reached: [], blocked: false };
      days.set(key, day);
      if (isSpendSettled(event)) day.spent += event.data.amount_micros;
      if (event.type === 'budget.blocked') {
        expect(day.reached).toEqual([50, 80, 100]);
        day.blocked = true;
      }
      if (event.type !== 'budget.threshold_reached') continue;
      const { data } = event as BudgetThresholdReachedEvent;
      expect(data).toMatchObject({ scope: 'agent', scope_id: agentId, spent_micros: day.spent });
      expect((data.spent_micros / data.daily_budget_usd_micros) * 100).toBeGreaterThanOrEqual(data.percent);
      day.reached.push(data.percent);
    }
    const all = [...days.values()].map(({ spent, reached, blocked }) => ({ spent, reached: reached.join(), blocked }));
    const reaching = (reached: string) => all.filter((day) => day.reached === reached);
    expect(new Set(all.map(({ reached }) => reached))).toEqual(new Set(['', '50', '50,80', '50,80,100']));
    expect(reaching('50,80').length).toBeGreaterThan(5);
    expect(reaching('50,80,100').filter(({ blocked }) => blocked).length).toBeGreaterThan(10);
  });
});
