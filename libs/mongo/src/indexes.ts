import type { Connection, IndexDefinition, IndexOptions, mongo } from 'mongoose';

/** What {@link ensureIndexes} needs of a mongoose model, whatever its document type. */
interface IndexedModel {
  readonly db: Connection;
  readonly collection: { readonly name: string };
  readonly schema: { indexes(): [IndexDefinition, IndexOptions][] };
  createCollection(): Promise<unknown>;
}

const INDEX_OPTIONS_CONFLICT = 85;

/**
 * Creates the collections and indexes that the models declare. Idempotent and safe beside other processes that do the
 * same. A TTL index that exists with another age gets the new age. Any other difference rejects, because dropping an
 * index of a large collection is the operator's decision.
 *
 * The empty collections are created here, because transactions that create a collection conflict with each other.
 */
export async function ensureIndexes(models: readonly IndexedModel[]): Promise<void> {
  await Promise.all(
    models.map(async (model) => {
      await model.createCollection();
      for (const [keys, options] of model.schema.indexes()) await ensureIndex(model, keys, options);
    }),
  );
}

async function ensureIndex(model: IndexedModel, keys: IndexDefinition, options: IndexOptions): Promise<void> {
  const collection = model.db.collection(model.collection.name);
  try {
    await collection.createIndex(keys as mongo.IndexSpecification, options as mongo.CreateIndexesOptions);
  } catch (error) {
    const { expireAfterSeconds } = options;
    if (codeOf(error) !== INDEX_OPTIONS_CONFLICT || expireAfterSeconds === undefined) throw error;
    await model.db.db?.command({ collMod: collection.name, index: { keyPattern: keys, expireAfterSeconds } });
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
