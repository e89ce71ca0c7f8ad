import { withoutCredentials } from '@tollkeeper/mongo';
import { SERVICES, TOPOLOGY } from '@tollkeeper/topology';
import { MongoClient } from 'mongodb';
import { explain, Failure } from './failure.ts';

/** Of the names of all databases of Tollkeeper. */
export const PREFIX = 'tollkeeper_';

/** The database of a service. */
export const databaseOf = (service: string): string => PREFIX + service;

/** Those that every installation has. */
export const DATABASES: readonly string[] = SERVICES.filter((name) => TOPOLOGY[name].mongodb).map(databaseOf);

/** Connects for the time of `use`. Errors that an operator can do something about become a {@link Failure}. */
export async function withMongo<T>(uri: string, use: (client: MongoClient, address: string) => Promise<T>): Promise<T> {
  const address = withoutCredentials(uri);
  const client = createClient(uri);
  try {
    await client.connect();
    return await use(client, address);
  } catch (error) {
    throw explain(error, address);
  } finally {
    await client.close();
  }
}

function createClient(uri: string): MongoClient {
  try {
    return new MongoClient(uri, {
      appName: 'tollkeeper-backup',
      serverSelectionTimeoutMS: 10_000,
      connectTimeoutMS: 10_000,
      maxPoolSize: 4,
      waitQueueTimeoutMS: 10_000,
      writeConcern: { w: 'majority', journal: true },
    });
  } catch {
    // The driver's message may quote a part of the password.
    throw new Failure(
      'The address of MongoDB cannot be read. It has the form mongodb://user:password@host:27017/?replicaSet=rs0. ' +
        'Percent-encode special characters in user and password, such as %40 for @ and %2F for /.',
    );
  }
}

/** The databases of Tollkeeper that exist and that the user may see. */
export async function listDatabases(client: MongoClient): Promise<string[]> {
  const { databases } = await client.db().admin().listDatabases({ nameOnly: true, authorizedDatabases: true });
  return databases.map(({ name }) => name).filter((name) => name.startsWith(PREFIX));
}
