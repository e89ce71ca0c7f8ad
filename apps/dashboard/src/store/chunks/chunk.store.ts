import type { Connection } from 'mongoose';
import type { SettlementReader } from '../../domain/settlement.list.ts';
import { createChunkCollection, createFindChunks } from './chunk.collection.ts';
import { createChunkReader, type ChunkReader } from './chunk.reader.ts';
import { createSettlementReader } from './settlement.reader.ts';
import { createChunkWriter, type ChunkWriter } from './chunk.writer.ts';

export interface ChunkStore extends ChunkReader, ChunkWriter, SettlementReader {}

/** All events except blocked ones, and the starts of all runs, packed. Kept for `retentionSeconds` after the newest. */
export function createChunkStore(connection: Connection, retentionSeconds: number): ChunkStore {
  const chunks = createChunkCollection(connection, retentionSeconds);
  const find = createFindChunks(connection, chunks);
  return {
    ...createChunkReader(chunks, find),
    ...createChunkWriter(chunks, find),
    ...createSettlementReader({ connection, chunks, find }),
  };
}
