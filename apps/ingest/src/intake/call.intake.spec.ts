import { describe, expect, it } from '@jest/globals';
import { DEFAULT_REPORT_MAPPING, type GatewayEvent } from '@tollkeeper/contracts';
import { createTurns, provenTenantId } from '@tollkeeper/kernel';
import { createOverrideBook, createPriceBook } from '@tollkeeper/prices';
import { eventually } from '@tollkeeper/testing';
import { errorOf, traces } from '../../test/otlp.bodies.ts';
import { createCallIntake } from './call.intake.ts';

const KEY = { tenantId: provenTenantId('ws_1'), watched: false, reports: DEFAULT_REPORT_MAPPING };
const OTHER = { ...KEY, tenantId: provenTenantId('ws_2') };

/** A body with one call, and more than 64 KiB if it is large. */
function body(settlementId: string, { large = false } = {}) {
  const prompt = large ? 'x'.repeat(64 * 1024) : 'x';
  const bytes = traces(
    {
      spans: [
        {
          attributes: [
            ['gen_ai.operation.name', 'chat'],
            ['tollkeeper.settlement_id', settlementId],
            ['gen_ai.usage.cost', 0.5],
            ['gen_ai.input.messages', prompt],
          ],
        },
      ],
    },
    'protobuf',
  );
  return { bytes, signal: 'span', encoding: 'protobuf' } as const;
}

const MIDNIGHT = Date.parse('2026-11-27T00:00:00Z');

/** An intake whose log waits until it is released. */
function setUp() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const arrived: string[] = [];
  const clock = { now: MIDNIGHT - 1 };
  const plansLeftOut: number[] = [];
  const intake = createCallIntake<typeof KEY>({
    accept: async (_key, events: readonly GatewayEvent[]) => {
      arrived.push(...events.map(({ id }) => id));
      await released;
    },
    chargeEvents: () => undefined,
    oweEvents: () => undefined,
    count: () => undefined,
    countPlansLeftOut: (calls) => void plansLeftOut.push(calls),
    overridesOf: () => createOverrideBook([]),
    unknownPlansOf: (_tenantId, planKeys) => new Set(planKeys.filter((planKey) => planKey !== 'gold')),
    show: () => undefined,
    prices: createPriceBook({ rows: [], version: 'empty' }),
    turns: {
      small: createTurns({ capacity: 1024 * 1024, ofSender: 8 }),
      large: createTurns({ capacity: 1024 * 1024, ofSender: 1 }),
    },
    clock: () => clock.now,
  });
  const take = (key: typeof KEY, of: ReturnType<typeof body>, signal = new AbortController().signal) =>
    intake.takeOtlp(key, of, { path: '/v1/traces', agent: undefined, signal });
  return { take, release, arrived, clock, plansLeftOut };
}

describe('bodies that come together', () => {
  it('are taken one at a time of each workspace if they are large, and small ones beside them', async () => {
    const { take, release, arrived } = setUp();
    const taken = [
      take(KEY, body('a', { large: true })),
      take(KEY, body('b', { large: true })),
      take(KEY, body('c')),
      take(OTHER, body('d', { large: true })),
    ];
    await eventually(() => expect(arrived.toSorted()).toEqual(['a', 'c', 'd']));
    release();
    await Promise.all(taken);
    expect(arrived.toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('lose their place when nobody waits for the answer any more', async () => {
    const { take, release, arrived } = setUp();
    const late = new AbortController();
    const first = take(KEY, body('a', { large: true }));
    const second = errorOf(take(KEY, body('b', { large: true }), late.signal));
    const third = take(KEY, body('c', { large: true }));
    const reason = new Error('late');
    late.abort(reason);
    expect(await second).toBe(reason);
    release();
    await Promise.all([first, third]);
    expect(arrived).toEqual(['a', 'c']);
  });
});

describe('what the answer says', () => {
  /** A body with a call of a service. */
  const of = (service: string, attributes: [string, string | number][] = []) => {
    const span = {
      attributes: [['gen_ai.operation.name', 'chat'], ['gen_ai.usage.cost', 0.5], ...attributes] as const,
    };
    const bytes = traces({ resource: [['service.name', service]], spans: [span] }, 'protobuf');
    return { bytes, signal: 'span', encoding: 'protobuf' } as const;
  };
  const sampled = (service: string) => of(service, [['sampling.probability', 0.1]]);

  it('warns of figures that are incomplete by sampling, once a UTC day of each workspace and sender', async () => {
    const { take, release, clock } = setUp();
    release();
    const warningsOf = async (...taking: Parameters<typeof take>) =>
      (await take(...taking)).notices.filter((notice) => notice.startsWith('The figures are incomplete')).length;
    expect([await warningsOf(KEY, of('a')), await warningsOf(KEY, sampled('a'))]).toEqual([0, 1]);
    expect([await warningsOf(KEY, sampled('a')), await warningsOf(KEY, sampled('b'))]).toEqual([0, 1]);
    expect([await warningsOf(OTHER, sampled('a')), await warningsOf(OTHER, sampled('a'))]).toEqual([1, 0]);
    clock.now = MIDNIGHT;
    expect([await warningsOf(KEY, sampled('a')), await warningsOf(KEY, sampled('a'))]).toEqual([1, 0]);
  });

  it('names the senders that sample', async () => {
    const { take, release } = setUp();
    release();
    const { notices } = await take(KEY, sampled('support bot'));
    expect(notices).toEqual([expect.stringContaining('calls of otel/support-bot is reported')]);
  });

  it.each([
    ['gold', 0],
    ['silver', 1],
    ['Gold plan', 1],
  ])('counts and names the plans that are left out: of %j %i', async (plan, leftOut) => {
    const { take, release, plansLeftOut } = setUp();
    release();
    const { notices } = await take(KEY, of('a', [['tollkeeper.plan', plan]]));
    expect(plansLeftOut).toEqual([leftOut]);
    expect(notices).toEqual(leftOut === 0 ? [] : [expect.stringMatching(/^1 call is taken without the reported plan/)]);
  });
});
