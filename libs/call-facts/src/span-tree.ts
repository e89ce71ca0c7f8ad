import type { IntakeRecord } from './record.ts';

/** Most levels of spans that are searched for an ancestor. */
const MAX_ANCESTORS = 64;
/** Spans around each other have no outermost one. Deeper levels than these are taken for such spans. */
const MAX_LEVELS = 10_000;

/** The spans of one body by their ids. Add all of them before asking for ancestors. */
export interface SpanTree {
  add(record: IntakeRecord): void;
  /** The nearest 64 spans around the record, nearest first. None if some of these are around each other. */
  ancestors(record: IntakeRecord): readonly IntakeRecord[];
}

export function createSpanTree(): SpanTree {
  const spans = new Map<string, IntakeRecord>();
  /** Whether spans of deep levels are inside an outermost one. */
  const rooted = new Map<IntakeRecord, boolean>();

  function parentOf({ traceId, parentSpanId }: IntakeRecord): IntakeRecord | undefined {
    return parentSpanId === null ? undefined : spans.get(`${traceId}:${parentSpanId}`);
  }

  /** Visits each span of a body once, however often it is asked. */
  function isRooted(record: IntakeRecord): boolean {
    const visited = new Set<IntakeRecord>();
    let at: IntakeRecord | undefined = record;
    while (at !== undefined && !rooted.has(at) && !visited.has(at) && visited.size < MAX_LEVELS) {
      visited.add(at);
      at = parentOf(at);
    }
    const is = at === undefined || (rooted.get(at) ?? false);
    for (const each of visited) rooted.set(each, is);
    return is;
  }

  return {
    add(record) {
      const { kind, traceId, spanId } = record;
      if (kind === 'span' && traceId !== null && spanId !== null) spans.set(`${traceId}:${spanId}`, record);
    },
    ancestors(record) {
      const found: IntakeRecord[] = [];
      let parent = parentOf(record);
      if (parent !== undefined && rooted.get(parent) === false) return found;
      while (parent !== undefined && found.length < MAX_ANCESTORS) {
        if (parent === record) return [];
        found.push(parent);
        parent = parentOf(parent);
      }
      return parent === undefined || isRooted(parent) ? found : [];
    },
  };
}
