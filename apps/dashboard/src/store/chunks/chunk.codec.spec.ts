import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import fc from 'fast-check';
import type { DashboardEvent } from '../../domain/event.ts';
import { openEvents, packEvents } from './chunk.codec.ts';

const tenantId = provenTenantId('ws_1');

const text = fc.oneof(fc.constantFrom('', 'planner', 'é✓😀', '__proto'), fc.string({ unit: 'binary', maxLength: 300 }));
const value = fc.oneof(
  text,
  fc.nat(),
  fc.constantFrom(0, -0, -1, 0.5, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 1e300),
);
const field = fc.constantFrom('run_id', 'agent_id', 'amount_micros', 'model', 'ключ');
const labels = fc.dictionary(fc.constantFrom('team', 'cost.centre', 'labels.team'), text, { minKeys: 1 });
const event: fc.Arbitrary<DashboardEvent> = fc.record({
  tenantId: fc.constant(tenantId),
  source: text,
  eventId: text,
  type: fc.constantFrom('spend.settled', 'tool.called'),
  time: fc.oneof(fc.integer({ min: -1e14, max: 2e14 }), fc.constantFrom(0, -1, 253_402_300_799_999)),
  data: fc
    .uniqueArray(fc.oneof(fc.tuple(field, value), fc.tuple(fc.constant('labels'), labels)), {
      selector: ([name]) => name,
    })
    .map((fields) => Object.fromEntries(fields)),
});
const events = fc
  .oneof(fc.array(event, { maxLength: 40 }), fc.array(event, { minLength: 1, maxLength: 5 }).map(repeated))
  .map((all) => all.sort((a, b) => a.time - b.time));

/** Each text of a field occurs many times. */
function repeated(some: DashboardEvent[]): DashboardEvent[] {
  return Array.from({ length: 100 }, (_, index) => some[index % some.length]!);
}

describe('packed events', () => {
  it('are the events that were packed, with the fields of their data in the same order', () => {
    fc.assert(
      fc.property(events, (all) => {
        const packed = openEvents(tenantId, packEvents(all));
        expect(packed.count).toBe(all.length);
        const read = [...packed.events()];
        expect(read).toEqual(all);
        expect(read.map(({ data }) => Object.keys(data))).toEqual(all.map(({ data }) => Object.keys(data)));
        expect([...packed.events()]).toEqual(all);
      }),
      { numRuns: 500 },
    );
  });

  it('are read in a span of time and with some fields alone', () => {
    const time = fc.integer({ min: -1e14, max: 2e14 });
    fc.assert(
      fc.property(events, time, time, fc.uniqueArray(field), (all, start, end, fields) => {
        const expected = all
          .filter((one) => one.time >= start && one.time < end)
          .map(({ data, ...rest }) => {
            const kept = Object.entries(data).filter(([name]) => (fields as string[]).includes(name));
            return { ...rest, source: '', eventId: '', data: Object.fromEntries(kept) };
          });
        const packed = openEvents(tenantId, packEvents(all));
        expect([...packed.events({ span: { start, end }, fields, ids: false })]).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('are read with some of their labels', () => {
    const data = { agent_id: 'planner', labels: { team: 'growth', env: 'prod' } };
    const one = { tenantId, source: 'gw', eventId: 'e1', type: 'spend.settled', time: 0, data };
    const [read] = openEvents(tenantId, packEvents([one])).events({ fields: ['labels.team'] });
    expect(read!.data).toEqual({ labels: { team: 'growth' } });
  });

  it('take a small part of their size as documents', () => {
    const all = Array.from({ length: 1_000 }, (_, index): DashboardEvent => {
      const ids = { settlement_id: `stl-${index}`, run_id: `run-${Math.floor(index / 10)}`, agent_id: 'planner' };
      const data = {
        ...ids,
        amount_micros: (index * 7_919) % 90_000,
        model: 'opus',
        input_tokens: (index * 31) % 8_000,
      };
      return { tenantId, source: 'gw', eventId: `evt-${index}`, type: 'spend.settled', time: index * 800, data };
    });
    expect(packEvents(all).length / all.length).toBeLessThan(25);
  });

  it('of a later form are refused, not misread', () => {
    const [first] = fc.sample(event, { numRuns: 1, seed: 1 });
    expect(() => openEvents(tenantId, later(packEvents([first!])))).toThrow('A chunk has version 2');
  });
});

function later(packed: Uint8Array): Uint8Array {
  const bytes = zstdDecompressSync(packed);
  bytes[0] = 2;
  return zstdCompressSync(bytes);
}
