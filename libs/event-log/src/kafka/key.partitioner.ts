/** The constants of murmur2, and the seed of Kafka's clients (org.apache.kafka.common.utils.Utils). */
const SEED = 0x9747b28c;
const M = 0x5bd1e995;
const R = 24;

/**
 * The partition of a key, as the Java client of Kafka computes it. kafkajs has the same function, but it is many times
 * slower.
 */
export function partitionOf(key: string, partitions: number): number {
  return (murmur2(Buffer.from(key)) & 0x7fff_ffff) % partitions;
}

function murmur2(data: Buffer): number {
  const wholeWords = data.length - (data.length % 4);
  let hash = SEED ^ data.length;
  for (let at = 0; at < wholeWords; at += 4) {
    let word = Math.imul(data.readInt32LE(at), M);
    word ^= word >>> R;
    hash = Math.imul(hash, M) ^ Math.imul(word, M);
  }
  if (wholeWords < data.length) {
    for (let at = data.length - 1; at >= wholeWords; at -= 1) hash ^= data.readUInt8(at) << (8 * (at - wholeWords));
    hash = Math.imul(hash, M);
  }
  hash ^= hash >>> 13;
  hash = Math.imul(hash, M);
  return hash ^ (hash >>> 15);
}
