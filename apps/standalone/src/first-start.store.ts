import type { TenantId } from '@tollkeeper/kernel';
import type { MongoConnection } from '@tollkeeper/mongo';

/** Progress of the first start. It is stored, so that a start after a crash continues from there. */
export interface FirstStart {
  /** Epoch milliseconds; the end of the sample traffic. */
  begunAt: number;
  ownerEmail: string;
  /** Whether sample traffic was requested then. Later starts can leave it out, but not add it to a real workspace. */
  demo: boolean;
  /** Null before the workspace is created. */
  tenantId: TenantId | null;
  sampleWritten: boolean;
  /** Whether the owner has been shown the credentials. */
  finished: boolean;
}

export interface FirstStartStore {
  /** Returns the stored state; if there is none, stores and returns `proposed`. */
  begin(proposed: Pick<FirstStart, 'begunAt' | 'ownerEmail' | 'demo'>): Promise<FirstStart>;
  update(change: Partial<FirstStart>): Promise<void>;
}

const ID = 'first_start';

export function createFirstStartStore({ connection }: MongoConnection): FirstStartStore {
  const collection = () => connection.collection<FirstStart & { _id: string }>('installation');
  return {
    async begin(proposed) {
      const initial: FirstStart = { ...proposed, tenantId: null, sampleWritten: false, finished: false };
      const stored = await collection().findOneAndUpdate(
        { _id: ID },
        { $setOnInsert: initial },
        { upsert: true, returnDocument: 'after' },
      );
      return stored ?? initial;
    },
    async update(change) {
      await collection().updateOne({ _id: ID }, { $set: change });
    },
  };
}
