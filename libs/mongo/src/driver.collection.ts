import type { Connection, mongo, Schema } from 'mongoose';

/**
 * The driver's collection of a model, whose collection and indexes the connection makes at its start. For hot paths:
 * nothing is cast, copied or checked on the way, so every value in a filter must be typed or validated before.
 */
export function driverCollection<Document extends mongo.Document>(
  connection: Connection,
  model: string,
  schema: Schema<Document>,
): mongo.Collection<Document> {
  return connection.model(model, schema).collection as unknown as mongo.Collection<Document>;
}
