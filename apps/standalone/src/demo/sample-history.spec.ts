import { describe, expect, it } from '@jest/globals';
import { type BudgetBlockedEvent, gatewayEventSchema, isSpendSettled } from '@tollkeeper/contracts';
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

  it('blocks an agent at its daily budget, never before', () => {
    const blocked = events.filter((event): event is BudgetBlockedEvent => event.type === 'budget.blocked');
    for (const { data } of blocked) {
      expect(data.spent_micros).toBeLessThanOrEqual(data.daily_budget_usd_micros);
      expect(data.spent_micros + data.requested_micros).toBeGreaterThan(data.daily_budget_usd_micros);
    }
  });
});
