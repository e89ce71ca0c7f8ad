import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addToSlot, rowKey, type Row, type WorkspaceSlot } from '../../domain/rollup.ts';
import { addTally, emptyTally, MEASURES, type Tally } from '../../domain/tally.ts';
import { addToRows, addToWorkspace, packedRows, readWorkspace, rowsApart, type PackedRow } from './rollup.codec.ts';
import { ByteReader, ByteWriter } from '../bytes.ts';
import { hashOfName, hashOfRow } from './row.hash.ts';

const start = Date.parse('2026-11-22T00:00:00.000Z');
const DAY_MS = 86_400_000;

const amount = fc.oneof(fc.constant(0), fc.nat(), fc.maxSafeNat(), fc.constant(2 ** 60));
const time = fc.oneof(fc.constant(0), fc.integer({ min: start, max: start + DAY_MS - 1 }));
const measures = Object.entries(MEASURES).map(([name, { of }]) => [name, of === 'time' ? time : amount]);
const tally = fc.record(Object.fromEntries(measures) as Record<keyof Tally, typeof amount>);
const slotNumber = fc.integer({ min: 0, max: 59 });
const workspaceSlots = fc
  .array(fc.tuple(slotNumber, fc.record({ tally, runsStarted: fc.integer({ min: -300, max: 300 }) })), { maxLength: 8 })
  .map((entries) => new Map(entries));
const MODELS = ['opus', '', 'a|b', '=opus', '模型', '😀'.repeat(32)];
const BY_HASH = new Map(MODELS.map((model) => [hashOfName(model), model]));

const row = fc.record({
  name: fc.constantFrom('planner', 'coder', 'a.b', 'ä'),
  model: fc.option(fc.constantFrom(...MODELS), { nil: undefined }),
  slots: fc.array(fc.tuple(slotNumber, tally), { maxLength: 6 }).map((entries) => new Map(entries)),
});
const rows = fc
  .array(
    fc.oneof(
      row,
      row.map((one) => ({ ...one, model: null })),
    ),
    { maxLength: 8 },
  )
  .map((list): Row[] => [...new Map(list.map((one) => [rowKey(one), one])).values()]);

const EACH_SLOT = new Map(Array.from({ length: 60 }, (_, slot) => [slot, slot]));
const slotsIn = (row: PackedRow) => new Map(row.sums(start, EACH_SLOT));

/** Groups rows by the names of models, as queries do: rows with the same name add up. */
function unpacked(packed: Uint8Array | undefined): Map<string, Row> {
  const rows = new Map<string, Row>();
  for (const row of packedRows(packed, BY_HASH)) {
    const held = rows.get(rowKey(row)) ?? { name: row.name, model: row.model, slots: new Map() };
    for (const [slot, sum] of slotsIn(row)) addToSlot(held.slots, slot, sum);
    rows.set(rowKey(held), held);
  }
  return rows;
}

/**
 * The number, the amount and the settlements of each slot that release 0.1.0 reads, and the bytes after it has counted
 * a settlement in one of them. It knows seven measures, writes all slots anew, and reads those of an hour.
 */
function asRelease010(packed: Uint8Array, added: number): { tallies: number[][]; bytes: Uint8Array } {
  const reader = new ByteReader(packed);
  const writer = new ByteWriter();
  const tallies: number[][] = [];
  while (reader.more()) {
    const number = reader.varint();
    const mask = reader.varint();
    const values = Array.from({ length: 7 }, (_, bit) => ((mask & (1 << bit)) === 0 ? undefined : reader.varint()));
    if (number < 60) tallies.push([number, values[0] ?? 0, values[1] ?? 0]);
    if (number === added) values[1] = (values[1] ?? 0) + 1;
    writer.varint(number);
    // A time that is the start of the roll-up is 0, and there.
    writer.varint(values.reduce<number>((sum, value, bit) => (value === undefined ? sum : sum | (1 << bit)), 0));
    for (const value of values) if (value !== undefined) writer.varint(value);
    writer.varint(reader.varint());
  }
  return { tallies, bytes: writer.bytes() };
}

describe('packed roll-ups', () => {
  it('hold the sum of all that was added to the workspace, slot by slot', () => {
    fc.assert(
      fc.property(fc.array(workspaceSlots, { maxLength: 4 }), (batches) => {
        let packed: Uint8Array | undefined;
        const expected = new Map<number, WorkspaceSlot>();
        for (const added of batches) {
          packed = addToWorkspace(packed, start, added);
          for (const [slot, held] of added) {
            const sum = expected.get(slot) ?? { tally: emptyTally(), runsStarted: 0 };
            addTally(sum.tally, held.tally);
            sum.runsStarted += held.runsStarted;
            expected.set(slot, sum);
          }
        }
        expect(new Map(readWorkspace(packed, start))).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it('hold the sum of all that was added to each agent and model, slot by slot, in rows with names or hashes', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(rows, fc.boolean()), { maxLength: 4 }), (batches) => {
        let packed: Uint8Array | undefined;
        const expected = new Map<string, Row>();
        for (const [added, hashed] of batches) {
          packed = addToRows(packed, start, added, hashed);
          for (const one of added) {
            const sum = expected.get(rowKey(one)) ?? { ...one, slots: new Map() };
            for (const [slot, held] of one.slots) addToSlot(sum.slots, slot, held);
            expected.set(rowKey(one), sum);
          }
        }
        expect(unpacked(packed)).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it('keep the name in a row that has it, where new rows get its hash', () => {
    const rowOf = (model: string): Row => ({ name: 'planner', model, slots: new Map([[1, emptyTally()]]) });
    const named = addToRows(undefined, start, [rowOf('opus')]);
    const models = (packed: Uint8Array) => [...rowsApart(packed)].map(({ row }) => row.model);
    const both = addToRows(named, start, [rowOf('opus'), rowOf('a|b')], true);
    expect(models(both)).toEqual(['opus', hashOfName('a|b')]);
    expect(models(addToRows(both, start, [rowOf('a|b'), rowOf('opus')], true))).toEqual(models(both));
  });

  it('sum the wanted slots of a row by span as one by one', () => {
    const spans = fc.array(fc.tuple(slotNumber, fc.integer({ min: 0, max: 3 }))).map((list) => new Map(list));
    fc.assert(
      fc.property(rows, spans, (list, wanted) => {
        const packed = addToRows(undefined, start, list);
        // A single slot is read by other code than several slots.
        const oneByOne = list.map(() => new Map<number, Tally>());
        list.forEach(({ slots }, index) => {
          // In the order of the row, because sums of amounts too large to be exact depend on the order.
          for (const slot of slots.keys()) {
            const span = wanted.get(slot);
            if (span === undefined) continue;
            const [alone] = [...packedRows(packed)][index]!.sums(start, new Map([[slot, span]]));
            addToSlot(oneByOne[index]!, span, alone![1]);
          }
        });
        const summed = [...packedRows(packed)].map((row) => new Map(row.sums(start, wanted)));
        expect(summed).toEqual(oneByOne);
      }),
      { numRuns: 200 },
    );
  });

  it('hold the same when their rows are taken apart and put together', () => {
    fc.assert(
      fc.property(rows, fc.boolean(), (list, hashed) => {
        const packed = addToRows(undefined, start, list, hashed);
        const apart = [...rowsApart(packed)];
        expect(unpacked(Buffer.concat(apart.map(({ bytes }) => bytes)))).toEqual(unpacked(packed));
        // A row lies in the same part in either form.
        expect(apart.map(({ row }) => hashOfRow(row))).toEqual(list.map(hashOfRow));
      }),
      { numRuns: 200 },
    );
  });

  // A change of this form loses the stored roll-ups.
  it('have the bytes that stored roll-ups have', () => {
    const sums = { totalMicros: 300, settlements: 2, outputTokens: 7, guardBlocked: 1 };
    const tally = { ...emptyTally(), ...sums, lastAt: start + 5 };
    const mask = 0b1101011;
    const packedTally = [mask, 0xac, 0x02, 2, 7, 1, 5];
    const workspace = addToWorkspace(undefined, start, new Map([[3, { tally, runsStarted: -2 }]]));
    expect([...workspace]).toEqual([3, ...packedTally, 3]);
    const models = [undefined, null, 'gpt'].map((model) => ({ name: 'ab', model, slots: new Map([[4, tally]]) }));
    expect([...addToRows(undefined, start, models)]).toEqual([
      ...[12, 2, 97, 98, 0, 4, ...packedTally],
      ...[12, 2, 97, 98, 1, 4, ...packedTally],
      ...[15, 2, 97, 98, 6, 103, 112, 116, 4, ...packedTally],
    ]);
    const hash = [0x5, 0x3e, 0xa4, 0x80, 0x4e, 0xf1];
    expect([
      ...addToRows(undefined, start, [{ name: 'ab', model: 'gpt', slots: new Map([[4, tally]]) }], true),
    ]).toEqual([...[18, 2, 97, 98, 2, ...hash, 4, ...packedTally]]);
  });

  it('have the measures that release 0.1.0 does not know in slots of their own, after those that have the others', () => {
    const tally = { ...emptyTally(), settlements: 1, cacheReadTokens: 300, unmetered: 2 };
    const further = [0b010001, 0xac, 0x02, 2];
    const workspace = addToWorkspace(undefined, start, new Map([[3, { tally, runsStarted: 1 }]]));
    expect([...workspace]).toEqual([3, 0b10, 1, 2, 64 + 3, ...further, 0]);
    const row = { name: 'ab', model: null, slots: new Map([[4, tally]]) };
    expect([...addToRows(undefined, start, [row])]).toEqual([12, 2, 97, 98, 1, 4, 0b10, 1, 64 + 4, ...further]);
  });

  it('have all measures of the last slot that a read wants', () => {
    const slots = new Map([1, 2, 3].map((slot) => [slot, { ...emptyTally(), settlements: slot, unmetered: slot }]));
    const [row] = [...packedRows(addToRows(undefined, start, [{ name: 'ab', model: null, slots }]))];
    const spans = new Map([1, 2].map((slot) => [slot, slot]));
    expect(row!.sums(start, spans)).toEqual([...slots].slice(0, 2));
  });

  it('are read by release 0.1.0, and keep all measures when it adds to them', () => {
    fc.assert(
      fc.property(workspaceSlots, slotNumber, (slots, slot) => {
        const packed = addToWorkspace(undefined, start, slots);
        const { tallies, bytes } = asRelease010(packed, slot);
        expect(tallies).toEqual(
          [...slots].map(([number, { tally }]) => [number, tally.totalMicros, tally.settlements]),
        );
        const counted = [...slots].map(([number, held]) => {
          const settlements = held.tally.settlements + (number === slot ? 1 : 0);
          return [number, { ...held, tally: { ...held.tally, settlements } }] as const;
        });
        expect(new Map(readWorkspace(bytes, start))).toEqual(new Map(counted));
      }),
    );
  });

  it('keep the measures of a later release when this one adds to them, and have none of them to it', () => {
    const ofLater = [128 + 3, 0x01, 0b1, 9];
    const before = [3, 0b1, 5, 0, 64 + 3, 0b1, 7, 0, ...ofLater, 0, 4, 0b1, 6, 0];
    const added = { tally: { ...emptyTally(), totalMicros: 1, cacheReadTokens: 1 }, runsStarted: 0 };
    const after = addToWorkspace(Uint8Array.from(before), start, new Map([[3, added]]));
    expect([...after]).toEqual([3, 0b1, 6, 0, 64 + 3, 0b1, 8, 0, ...ofLater, 0, 4, 0b1, 6, 0]);
    const read = [...readWorkspace(after, start)].map(([slot, { tally }]) => [slot, tally]);
    const sums = { ...emptyTally(), totalMicros: 6 };
    expect(read).toEqual([
      [3, { ...sums, cacheReadTokens: 8 }],
      [4, sums],
    ]);
    const row = Uint8Array.from([17, 2, 97, 98, 1, 3, 0b1, 6, 64 + 3, 0b1, 8, ...ofLater, 4, 0b1, 6]);
    const [packedRow] = [...packedRows(row)];
    expect(new Map(packedRow!.sums(start, EACH_SLOT))).toEqual(new Map(read as [number, Tally][]));
  });

  it('from before a measure was added hold none of it, and take more of it', () => {
    const packed = Uint8Array.from([3, 0b1, 9, 0]);
    expect([...readWorkspace(packed, start)]).toEqual([
      [3, { tally: { ...emptyTally(), totalMicros: 9 }, runsStarted: 0 }],
    ]);
    const more = { ...emptyTally(), guardBlocked: 1 };
    const sum = addToWorkspace(packed, start, new Map([[3, { tally: more, runsStarted: 0 }]]));
    expect([...readWorkspace(sum, start)][0]![1].tally).toEqual({ ...more, totalMicros: 9 });
  });

  it('that are cut off are an error, and no smaller sum', () => {
    const whole = addToRows(undefined, start, [
      { name: 'planner', model: 'opus', slots: new Map([[1, { ...emptyTally(), totalMicros: 300 }]]) },
    ]);
    for (let length = 1; length < whole.length; length += 1) {
      const cut = whole.subarray(0, length);
      expect(() => unpacked(cut)).toThrow(RangeError);
      expect(() => addToRows(cut, start, [])).toThrow(RangeError);
    }
  });
});
