import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { gatewayEventSchema, type GatewayEvent, isSpendSettled } from '@tollkeeper/contracts';
import { createLogger } from '@tollkeeper/runtime';
import { createLiveTraffic } from './live-traffic.ts';
import { SAMPLE_AGENTS } from './sample-agents.ts';

/** A Monday morning, when the sample agents are busy. */
const MORNING = Date.parse('2026-11-23T09:00:00.000Z');
const HOUR_MS = 3_600_000;
const logger = createLogger({ service: 'test', level: 'silent' });

describe('live sample traffic', () => {
  beforeEach(() => void jest.useFakeTimers({ now: MORNING }));
  afterEach(() => void jest.useRealTimers());

  async function run(hours: number, append: (events: GatewayEvent[]) => Promise<void>): Promise<void> {
    const traffic = createLiveTraffic({ append, clock: () => Date.now(), logger });
    await traffic.start();
    await jest.advanceTimersByTimeAsync(hours * HOUR_MS);
    await traffic.stop();
  }

  it('reports runs of sample agents, each event once and none before it happens', async () => {
    const events: GatewayEvent[] = [];
    await run(2, async (batch) => {
      for (const event of batch) expect(Date.parse(event.time)).toBeLessThanOrEqual(Date.now());
      events.push(...batch);
    });
    expect(events.length).toBeGreaterThan(50);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    for (const event of events) expect(gatewayEventSchema.parse(event)).toEqual(event);
  });

  it('stops an agent at its daily budget', async () => {
    const spent = new Map<string, number>();
    const events: GatewayEvent[] = [];
    await run(14, async (batch) => void events.push(...batch));
    for (const { data } of events.filter(isSpendSettled)) {
      spent.set(data.agent_id, (spent.get(data.agent_id) ?? 0) + data.amount_micros);
    }
    for (const { agentId, dailyBudgetMicros } of SAMPLE_AGENTS) {
      expect(spent.get(agentId) ?? 0).toBeLessThanOrEqual(dailyBudgetMicros);
    }
    expect(events.some(({ type }) => type === 'budget.blocked')).toBe(true);
  });

  it('goes on after an append that failed', async () => {
    let appends = 0;
    await run(1, async () => {
      appends += 1;
      if (appends === 1) throw new Error('no primary');
    });
    expect(appends).toBeGreaterThan(1);
  });
});
