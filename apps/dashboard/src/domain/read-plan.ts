import type { TimeSpan } from '@tollkeeper/kernel';
import { GRAIN_MS, type Grain } from './grain.ts';

/** A stretch of raw events to read, from `start` to `end`: `spans` parts of `stepMs` each (the last may be shorter). */
export interface RawRead extends TimeSpan {
  stepMs: number;
  /** Index of the span that the first part belongs to; the following parts belong to the following spans. */
  firstSpan: number;
}

/** What to read to tally each of a list of spans: the buckets, and the raw events between them. */
export interface ReadPlan {
  /** By grain: the start of each bucket, and the index of the span that it belongs to. */
  buckets: Record<Grain, Map<number, number>>;
  raw: RawRead[];
}

/**
 * Windows shorter than this many of the smallest buckets consist mostly of ragged ends, so only raw events are read,
 * unless both ends are those of buckets.
 */
const RAW_ONLY_BUCKETS = 4;

/**
 * Plans the reads that tally each of `spans`, which follow one another without gap or overlap. Every instant of a span
 * is read exactly once: from the largest buckets of `grains` (longest first) that lie wholly in it, and from raw events
 * at its ragged ends. So the cost depends on the shape of the spans and not on the number of events.
 */
export function planReads(spans: TimeSpan[], grains: readonly Grain[]): ReadPlan {
  const plan: ReadPlan = { buckets: { '1d': new Map(), '1h': new Map(), '15m': new Map(), '1m': new Map() }, raw: [] };
  const finestMs = Math.min(...grains.map((grain) => GRAIN_MS[grain]));
  const [start = 0, end = 0] = [spans[0]?.start, spans.at(-1)?.end];
  const isRagged = start % finestMs !== 0 || end % finestMs !== 0;
  const rawOnly = isRagged && end - start < RAW_ONLY_BUCKETS * finestMs;
  spans.forEach((span, index) => {
    if (rawOnly) addRaw(plan.raw, span, index);
    else cover(plan, span, index, grains, finestMs);
  });
  return plan;
}

/** Reads the largest buckets that fit into `span`, and raw events for what remains at its ends. */
function cover(plan: ReadPlan, span: TimeSpan, index: number, grains: readonly Grain[], finestMs: number): void {
  const start = Math.ceil(span.start / finestMs) * finestMs;
  const end = Math.floor(span.end / finestMs) * finestMs;
  if (start >= end) {
    addRaw(plan.raw, span, index);
    return;
  }
  addRaw(plan.raw, { start: span.start, end: start }, index);
  for (let time = start; time < end;) {
    const grain = grains.find((candidate) => time % GRAIN_MS[candidate] === 0 && time + GRAIN_MS[candidate] <= end)!;
    plan.buckets[grain].set(time, index);
    time += GRAIN_MS[grain];
  }
  addRaw(plan.raw, { start: end, end: span.end }, index);
}

function addRaw(raw: RawRead[], span: TimeSpan, index: number): void {
  const stepMs = span.end - span.start;
  if (stepMs <= 0) return;
  const last = raw.at(-1);
  // A part can join the previous read while all parts but the last are equally long.
  const joins = last?.end === span.start && stepMs <= last.stepMs;
  if (joins && last.firstSpan + (last.end - last.start) / last.stepMs === index) last.end = span.end;
  else raw.push({ ...span, stepMs, firstSpan: index });
}
