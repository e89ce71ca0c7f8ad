import type { TenantId } from '@tollkeeper/kernel';
import type { MongoConnection } from '@tollkeeper/mongo';

/** How far the first start has come. It outlives the process, so that a start after a crash continues from there. */
export interface FirstStart {
  /** Epoch milliseconds; the sample traffic ends here. */
  begunAt: number;
  ownerEmail: string;
  /** Whether sample traffic was asked for then. Later starts can leave it out, but not bring it to a real workspace. */
  demo: boolean;
  /** Null until the workspace is made. */
  tenantId: TenantId | null;
  sampleWritten: boolean;
  /** The owner has been shown what is needed to log in. */
  finished: boolean;
}

export interface FirstStartStore {
  /** What is stored, or else `proposed`, which is then stored. */
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
