import type { Connection, mongo, Schema } from 'mongoose';

/**
 * The driver's collection of a model; the connection creates the collection and its indexes at the start. For hot
 * paths: nothing is cast, copied or checked, so every value in a filter must be typed or validated before. A collection
 * that does not exist yet is created with `options`.
 */
export function driverCollection<Document extends mongo.Document>(
  connection: Connection,
  model: string,
  schema: Schema<Document>,
  options?: mongo.CreateCollectionOptions,
): mongo.Collection<Document> {
  const made = connection.model(model, schema);
  const create = made.createCollection.bind(made);
  made.createCollection = (others) => create({ ...options, ...others });
  return made.collection as unknown as mongo.Collection<Document>;
}
