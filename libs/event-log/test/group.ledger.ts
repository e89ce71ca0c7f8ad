import type { ConsumerHandler, ReadRecord, RecordBatch } from '../src/event-log.ts';

interface AppliedBatch extends RecordBatch {
  member: string;
}

/**
 * What a consumer group has applied, with its positions. It replaces the database of a service, where effects and
 * position change together, and only from the stored position.
 */
export interface GroupLedger {
  readonly batches: AppliedBatch[];
  readonly positions: Map<number, number>;
  /** A handler for one member. `before` runs before each batch's effects, and may reject. */
  handler(member?: string, before?: (batch: RecordBatch) => void | Promise<void>): ConsumerHandler;
  records(): ReadRecord[];
  /** Values by key, in the order of application. */
  valuesByKey(): Map<string, string[]>;
  values(): string[];
}

export function createGroupLedger(start: ReadonlyMap<number, number> = new Map()): GroupLedger {
  const batches: AppliedBatch[] = [];
  const positions = new Map(start);
  const records = (): ReadRecord[] => batches.flatMap((batch) => batch.records);

  return {
    batches,
    positions,
    handler: (member = 'member', before = () => undefined) => ({
      position: async (_topic, partition) => positions.get(partition) ?? null,
      async handle(batch) {
        await before(batch);
        const stored = positions.get(batch.partition) ?? null;
        if (stored !== batch.from) throw new Error(`the group stands at ${stored}, not at ${batch.from}`);
        positions.set(batch.partition, batch.nextOffset);
        batches.push({ ...batch, member });
      },
    }),
    records,
    valuesByKey: () =>
      new Map([...Map.groupBy(records(), ({ key }) => key)].map(([key, own]) => [key, own.map(valueOf)])),
    values: () => records().map(valueOf),
  };
}

function valueOf({ value }: ReadRecord): string {
  return value.toString();
}
