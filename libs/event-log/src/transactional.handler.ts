import type { OffsetStore } from '@tollkeeper/mongo';
import type { DeferredRecords } from './deferred.records.ts';
import type { ConsumerHandler } from './event-log.ts';
import type { RecordApplier } from './record.applier.ts';

/**
 * A handler that stores effects and position in one transaction, or the position after effects that were made ahead. A
 * batch that writes too much for one transaction is committed in several, each with the position after its records.
 */
export function createTransactionalHandler(deps: {
  offsets: OffsetStore;
  applier: RecordApplier;
  /** Without it, the records of a key are applied before later ones of any key. */
  deferred?: DeferredRecords | undefined;
}): ConsumerHandler {
  const { offsets, applier, deferred } = deps;

  return {
    position: (topic, partition) => offsets.position(topic, partition),
    async begins(topic, partition) {
      await deferred?.begin(topic, partition);
    },
    async handle(batch, stored) {
      const { topic, partition, records, from, nextOffset } = batch;
      await applier.apply({
        ...{ topic, partition, records, from, end: nextOffset, stored },
        move: (session, at, to) => offsets.advance(session, { topic, partition, from: at, to }),
        ...(deferred !== undefined && { deferral: deferred.deferralOf(batch) }),
      });
    },
    async released({ topic, partition }) {
      await deferred?.end(topic, partition);
    },
  };
}
