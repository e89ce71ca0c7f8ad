import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { gatewayEventSchema, type GatewayEvent } from '@tollkeeper/contracts';
import { provenTenantId } from '@tollkeeper/kernel';
import { createPriceBook, readBundledTable } from '@tollkeeper/prices';
import { createLogger } from '@tollkeeper/runtime';
import { createLiveTraffic } from './live-traffic.ts';
import { createRandom } from './random.ts';
import { runAway } from './runaway.ts';
import { SAMPLE_AGENTS } from './sample-agents.ts';
import type { SampleReservations } from './sample-calls.ts';

/** A Monday morning, when the sample agents are busy. */
const MORNING = Date.parse('2026-11-23T09:00:00.000Z');
const HOUR_MS = 3_600_000;
const TENANT = provenTenantId('ws_demo');
const logger = createLogger({ service: 'test', level: 'silent' });

type Reserve = Parameters<SampleReservations['reserve']>[1];
type Settle = Parameters<SampleReservations['settle']>[2];

/** The attributes of the spans in a body, by name. */
function attributesIn(body: Buffer): Record<string, string | undefined>[] {
  const { resourceSpans } = JSON.parse(body.toString()) as {
    resourceSpans: { scopeSpans: { spans: { attributes: { key: string; value: Record<string, string> }[] }[] }[] }[];
  };
  return resourceSpans[0]!.scopeSpans[0]!.spans.map(({ attributes }) =>
    Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
  );
}

describe('live sample traffic', () => {
  beforeEach(() => void jest.useFakeTimers({ now: MORNING }));
  afterEach(() => void jest.useRealTimers());

  /** `allows` is the number of allowed calls; all later ones are denied. */
  async function run(hours: number, append: (events: GatewayEvent[]) => Promise<void>, allows = Infinity) {
    const reserved: Reserve[] = [];
    const spans: Record<string, string | undefined>[] = [];
    const settled: { id: string; settlement: Settle }[] = [];
    const reservations: SampleReservations = {
      async reserve(_key, request) {
        reserved.push(request);
        if (reserved.length > allows) return { decision: 'denied' };
        return { decision: 'allowed', reservation: { id: request.requestId } };
      },
      async settle(_tenantId, id, settlement) {
        settled.push({ id, settlement });
      },
    };
    const report = async (body: Buffer) => void spans.push(...attributesIn(body));
    const clock = () => Date.now();
    const traffic = createLiveTraffic({ tenantId: TENANT, reservations, append, report, clock, logger });
    await traffic.start();
    await jest.advanceTimersByTimeAsync(hours * HOUR_MS);
    await traffic.stop();
    return { reserved, settled, spans };
  }

  it('reserves more than each call costs, and settles or reports each reservation once', async () => {
    const { reserved, settled, spans } = await run(2, async () => {});
    expect(spans.length).toBeGreaterThan(20);
    expect(new Set(reserved.map(({ requestId }) => requestId)).size).toBe(reserved.length);
    const ended = [...settled.map(({ id }) => id), ...spans.map((span) => span['tollkeeper.reservation_id'])];
    expect(ended).toEqual(reserved.map(({ requestId }) => requestId));
    for (const [index, { settlement }] of settled.entries()) {
      expect(reserved[index]!.amountMicros).toBeGreaterThan(settlement.amountMicros);
    }
    for (const { agentId } of reserved) expect(SAMPLE_AGENTS.map((agent) => agent.agentId)).toContain(agentId);
  });

  it('reports calls without a cost, by tokens that cost less by the table of prices than what is reserved', async () => {
    const { reserved, spans } = await run(2, async () => {});
    const prices = createPriceBook(readBundledTable());
    const byId = new Map(reserved.map((request) => [request.requestId, request]));
    for (const span of spans) {
      const { agentId, runId, amountMicros } = byId.get(span['tollkeeper.reservation_id']!)!;
      expect([span['gen_ai.agent.name'], span['gen_ai.conversation.id']]).toEqual([agentId, runId]);
      const model = span['gen_ai.response.model'];
      const tokens = {
        input: Number(span['gen_ai.usage.input_tokens']),
        output: Number(span['gen_ai.usage.output_tokens']),
      };
      const price = prices.price({
        ...{
          responseModel: model,
          requestModel: model,
          provider: span['gen_ai.provider.name'],
          serviceTier: undefined,
        },
        ...{ timeMs: MORNING, tokens: { ...tokens, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, reasoning: 0 } },
      });
      expect(price!.micros).toBeLessThan(amountMicros);
      expect(Math.ceil(price!.micros * 1.3)).toBeGreaterThanOrEqual(amountMicros - 2);
      expect(Object.keys(span).filter((name) => name.includes('cost'))).toEqual([]);
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
