import type { IntakeRecord } from './record.ts';

/** Most levels of spans that are searched for an ancestor. */
const MAX_ANCESTORS = 64;

/** The spans of one body by their ids. */
export interface SpanTree {
  add(record: IntakeRecord): void;
  /** The spans around the record that have been added, nearest first. None if the record is around itself. */
  ancestors(record: IntakeRecord): readonly IntakeRecord[];
}

export function createSpanTree(): SpanTree {
  const spans = new Map<string, IntakeRecord>();

  function parentOf({ traceId, parentSpanId }: IntakeRecord): IntakeRecord | undefined {
    return parentSpanId === null ? undefined : spans.get(`${traceId}:${parentSpanId}`);
  }

  return {
    add(record) {
      const { kind, traceId, spanId } = record;
      if (kind === 'span' && traceId !== null && spanId !== null) spans.set(`${traceId}:${spanId}`, record);
    },
    ancestors(record) {
      const found: IntakeRecord[] = [];
      let parent = parentOf(record);
      while (parent !== undefined && found.length < MAX_ANCESTORS) {
        if (parent === record) return [];
        found.push(parent);
        parent = parentOf(parent);
      }
      return found;
    },
  };
}
