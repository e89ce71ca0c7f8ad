import type { TenantId } from '@tollkeeper/kernel';
import type { Connection } from 'mongoose';
import { openEvents } from '../src/store/chunks/chunk.codec.ts';
import type { ChunkDocument } from '../src/store/chunks/chunk.packing.ts';

/** How many events are stored, of one workspace or of all: as documents and in chunks. */
export async function storedEvents(database: Connection, tenantId?: TenantId): Promise<number> {
  const blocked = await database.collection('blocked_events').countDocuments(tenantId ? { tenantId } : {});
  const chunks = await database
    .collection<ChunkDocument>('chunks')
    .find(tenantId ? { tenantId } : {})
    .toArray();
  return chunks.reduce((sum, { tenantId: of, events }) => sum + openEvents(of, events.buffer).count, blocked);
}
