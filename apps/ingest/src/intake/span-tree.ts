import type { IntakeRecord } from './record.ts';

/** Most levels of spans that are searched for an ancestor. */
const MAX_ANCESTORS = 64;

/** The spans of one body by their ids. */
export interface SpanTree {
  /** The spans around the record that the body has, nearest first. None if the record is around itself. */
  ancestors(record: IntakeRecord): readonly IntakeRecord[];
}

export function spanTree(records: readonly IntakeRecord[]): SpanTree {
  const spans = new Map<string, IntakeRecord>();
  for (const record of records) {
    const { kind, traceId, spanId } = record;
    if (kind === 'span' && traceId !== null && spanId !== null) spans.set(`${traceId}:${spanId}`, record);
  }
  return {
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

  function parentOf({ traceId, parentSpanId }: IntakeRecord): IntakeRecord | undefined {
    return parentSpanId === null ? undefined : spans.get(`${traceId}:${parentSpanId}`);
  }
}
