import { describe, expect, it } from '@jest/globals';
import { emptyRecord, type IntakeRecord } from './record.ts';
import { createSpanTree } from './span-tree.ts';

const NO_ATTRIBUTES = { scope: { name: 'test' }, resource: new Map(), attributes: new Map() };

/** A span in the one with the number `parent`. */
function span(id: number, parent: number | undefined): IntakeRecord {
  const hex = (number: number) => number.toString(16).padStart(16, '0');
  const ids = { traceId: 'a'.repeat(32), spanId: hex(id), parentSpanId: parent === undefined ? null : hex(parent) };
  return { ...emptyRecord('span', NO_ATTRIBUTES), ...ids };
}

function treeOf(spans: readonly IntakeRecord[]) {
  let lookUps = 0;
  const tree = createSpanTree();
  for (const each of spans) {
    const { parentSpanId } = each;
    // Reading the parent is what each step of a search does.
    Object.defineProperty(each, 'parentSpanId', { get: () => ((lookUps += 1), parentSpanId) });
    tree.add(each);
  }
  return { ancestorsOf: (record: IntakeRecord) => tree.ancestors(record).length, lookUps: () => lookUps };
}

/** `count` spans around each other. */
const ring = (count: number) =>
  Array.from({ length: count }, (_none, index) => span(index + 1, ((index + 1) % count) + 1));
/** `count` spans, each inside the one before. */
const chain = (count: number) =>
  Array.from({ length: count }, (_none, index) => span(index + 1, index === 0 ? undefined : index));

describe('the spans around a span', () => {
  it.each([1, 2, 64, 65, 66, 1_000, 20_000])('are none if it is one of %i that are around each other', (count) => {
    const spans = ring(count);
    const { ancestorsOf } = treeOf(spans);
    expect(new Set(spans.map(ancestorsOf))).toEqual(new Set([0]));
  });

  it.each([2, 100])('are none if it is inside of %i that are around each other', (count) => {
    const [inner, innermost] = [span(1_001, 1), span(1_002, 1_001)];
    const { ancestorsOf } = treeOf([...ring(count), inner, innermost]);
    expect([ancestorsOf(innermost), ancestorsOf(inner)]).toEqual([0, 0]);
  });

  it('are the nearest 64, at any depth', () => {
    const spans = chain(1_000);
    const { ancestorsOf } = treeOf(spans);
    expect(spans.map(ancestorsOf)).toEqual(spans.map((_span, depth) => Math.min(depth, 64)));
  });

  it.each([
    ['around each other', ring(20_000)],
    ['inside each other', chain(20_000)],
  ])('take 200 steps at most for each span of a body if all are %s', (_case, spans) => {
    const { ancestorsOf, lookUps } = treeOf(spans);
    spans.forEach(ancestorsOf);
    expect(lookUps()).toBeLessThan(200 * spans.length);
  });
});
