import type { TenantId } from '@tollkeeper/kernel';
import type { Connection } from 'mongoose';

/** How many events are stored, of one workspace or of all: as documents, and packed. */
export async function storedEvents(database: Connection, tenantId?: TenantId): Promise<number> {
  const documents = await database.collection('events').countDocuments(tenantId ? { tenant_id: tenantId } : {});
  const chunks = await database
    .collection('chunks')
    .find(tenantId ? { tenantId } : {}, { projection: { count: 1 } })
    .toArray();
  return chunks.reduce((sum, { count }) => sum + Number(count), documents);
}
