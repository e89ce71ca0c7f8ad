import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { gatewayEventSchema, type GatewayEvent } from '@tollkeeper/contracts';
import type { Reservations } from '@tollkeeper/enforcer';
import { provenTenantId } from '@tollkeeper/kernel';
import { createLogger } from '@tollkeeper/runtime';
import { createLiveTraffic } from './live-traffic.ts';
import { createRandom } from './random.ts';
import { runAway } from './runaway.ts';
import { SAMPLE_AGENTS } from './sample-agents.ts';

/** A Monday morning, when the sample agents are busy. */
const MORNING = Date.parse('2026-11-23T09:00:00.000Z');
const HOUR_MS = 3_600_000;
const TENANT = provenTenantId('ws_demo');
const logger = createLogger({ service: 'test', level: 'silent' });

type Reserve = Parameters<Reservations['reserve']>[1];
type Settle = Parameters<Reservations['settle']>[2];

describe('live sample traffic', () => {
  beforeEach(() => void jest.useFakeTimers({ now: MORNING }));
  afterEach(() => void jest.useRealTimers());

  /** `allows` is the number of allowed calls; all later ones are denied. */
  async function run(hours: number, append: (events: GatewayEvent[]) => Promise<void>, allows = Infinity) {
    const reserved: Reserve[] = [];
    const settled: { id: string; settlement: Settle }[] = [];
    const reservations = {
      async reserve(_tenantId: unknown, request: Reserve) {
        reserved.push(request);
        if (reserved.length <= allows)
          return { decision: 'allowed', reservation: { id: request.requestId }, limits: [] };
        return { decision: 'denied', denial: {}, limits: [] };
      },
      async settle(_tenantId: unknown, id: string, settlement: Settle) {
        settled.push({ id, settlement });
        return {};
      },
    } as unknown as Reservations;
    const traffic = createLiveTraffic({ tenantId: TENANT, reservations, append, clock: () => Date.now(), logger });
    await traffic.start();
    await jest.advanceTimersByTimeAsync(hours * HOUR_MS);
    await traffic.stop();
    return { reserved, settled };
  }

  it('reserves more than each call costs, and settles each reservation once', async () => {
    const { reserved, settled } = await run(2, async () => {});
    expect(reserved.length).toBeGreaterThan(50);
    expect(new Set(reserved.map(({ requestId }) => requestId)).size).toBe(reserved.length);
    expect(settled.map(({ id }) => id)).toEqual(reserved.map(({ requestId }) => requestId));
    for (const [index, { amountMicros, agentId }] of reserved.entries()) {
      expect(amountMicros).toBeGreaterThan(settled[index]!.settlement.amountMicros);
      expect(SAMPLE_AGENTS.map((agent) => agent.agentId)).toContain(agentId);
    }
  });

  it('begins with an agent that calls until its budget stops it, tries on, and is seen by a guard', async () => {
    const events: GatewayEvent[] = [];
    const { reserved, settled } = await run(0, async (batch) => void events.push(...batch), 20);
    expect(settled).toHaveLength(20);
    expect(reserved).toHaveLength(35);
    expect(new Set(reserved.map(({ agentId, runId }) => `${agentId} ${runId}`)).size).toBe(1);
    expect(events).toMatchObject([
      { type: 'guard.blocked', data: { guard: 'loop_detected', run_id: reserved[0]!.runId } },
    ]);
    expect(gatewayEventSchema.parse(events[0])).toEqual(events[0]);
  });

  it('leaves the agent alone whose budget is used up already, as after a restart, whatever it would do', async () => {
    for (let seed = 0; seed < 200; seed += 1) {
      let calls = 0;
      const events: GatewayEvent[] = [];
      await runAway({
        random: createRandom(seed),
        clock: () => Date.now(),
        call: async () => {
          calls += 1;
          return false;
        },
        append: async (batch) => void events.push(...batch),
        onFailure: () => undefined,
      });
      expect([seed, calls, events]).toEqual([seed, 1, []]);
    }
  });

  it('lets the agent run on past a call that is not answered, until its budget and a guard stop it', async () => {
    const answers: (boolean | Error)[] = [new Error('busy'), true, new Error('busy'), true];
    const failures: unknown[] = [];
    const events: GatewayEvent[] = [];
    let denied = 0;
    await runAway({
      random: createRandom(1),
      clock: () => Date.now(),
      async call() {
        const answer = answers.shift() ?? false;
        if (answer instanceof Error) throw answer;
        if (!answer) denied += 1;
        return answer;
      },
      append: async (batch) => void events.push(...batch),
      onFailure: (err) => void failures.push(err),
    });
    expect([failures.length, denied, events.map(({ type }) => type)]).toEqual([2, 15, ['guard.blocked']]);
  });

  it('ends a run at its first denied call', async () => {
    const { reserved, settled } = await run(2, async () => {}, 0);
    expect(reserved.length).toBeGreaterThan(10);
    expect(settled).toEqual([]);
    expect(new Set(reserved.map(({ runId }) => runId)).size).toBe(reserved.length);
  });

  it('reports what guards block, none of it before it happens, and reports no thresholds', async () => {
    const events: GatewayEvent[] = [];
    await run(14, async (batch) => {
      for (const event of batch) expect(Date.parse(event.time)).toBeLessThanOrEqual(Date.now());
      events.push(...batch);
    });
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['guard.blocked']));
    for (const event of events) expect(gatewayEventSchema.parse(event)).toEqual(event);
  });

  it('continues after a failure', async () => {
    let appends = 0;
    await run(14, async () => {
      appends += 1;
      if (appends === 1) throw new Error('no primary');
    });
    expect(appends).toBeGreaterThan(1);
  });
});
