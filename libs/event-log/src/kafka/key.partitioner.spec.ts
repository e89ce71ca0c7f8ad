import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import kafkajs from 'kafkajs';
import { partitionOf } from './key.partitioner.ts';

describe('the partition of a key', () => {
  const partitioner = kafkajs.Partitioners.DefaultPartitioner();

  it('is the one that every other Kafka client would choose', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.integer({ min: 1, max: 64 }), (key, partitions) => {
        const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => ({
          partitionId,
          partitionErrorCode: 0,
          leader: 1,
          replicas: [1],
          isr: [1],
        }));
        const expected = partitioner({ topic: 'topic', partitionMetadata, message: { key, value: null } });
        expect(partitionOf(key, partitions)).toBe(expected);
      }),
    );
  });
});
