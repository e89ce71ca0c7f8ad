import { parseArgs } from 'node:util';
import { connectMongo } from '@tollkeeper/mongo';
import { createLogger, loadConfig, mongodbFields } from '@tollkeeper/runtime';
import { z } from 'zod';
import { createEarlierMigration, type EarlierMigration } from '../src/store/earlier.migration.ts';
import { createStores } from '../src/store/stores.ts';

const USAGE = `Moves what release 0.1 of the dashboard stored to the form of this release.

  npm run migrate -w @tollkeeper/dashboard

Stop all replicas of 0.1, and start this release first. It may go on meanwhile. End the command as you like, and run it
again: it goes on with what is left. Nothing is lost or counted twice. At the end it drops the collections of 0.1.
MONGODB_URI names the database server, MONGODB_DATABASE the database (tollkeeper_dashboard).`;

const TELL_EVERY_MS = 1_000;
const FOR_EVER = 2_147_483_647;

const { values } = parseArgs({ options: { help: { type: 'boolean' } } });
if (values.help) console.log(USAGE);
else await migrate();

async function migrate(): Promise<void> {
  const config = loadConfig(z.object(mongodbFields('tollkeeper_dashboard')), process.env);
  const logger = createLogger({ service: 'migrate', level: 'error' });
  const database = connectMongo({ uri: config.MONGODB_URI, database: config.MONGODB_DATABASE, logger });
  await database.start();
  try {
    // On a connection of their own, which makes no indexes: how long events are kept is for the service to say.
    const connection = database.connection.useDb(config.MONGODB_DATABASE);
    const { recorder } = createStores(connection, FOR_EVER);
    const made = new Set((await connection.db!.listCollections().toArray()).map(({ name }) => name));
    const missing = Object.values(connection.models).find(({ collection }) => !made.has(collection.name));
    if (missing !== undefined) {
      throw new Error(
        `${config.MONGODB_DATABASE} has no collection "${missing.collection.name}". Start the dashboard of this release on it ` +
          'once: it makes the collections and indexes. If the database has another name, set MONGODB_DATABASE.',
      );
    }
    await moveAll(createEarlierMigration(connection, recorder));
  } finally {
    await database.stop();
  }
}

async function moveAll(migration: EarlierMigration): Promise<void> {
  const total = await migration.left();
  const startedAt = performance.now();
  let moved = 0;
  let toldAt = -Infinity;
  const tell = (): void => {
    toldAt = performance.now();
    const perSecond = moved / ((toldAt - startedAt) / 1_000);
    const share = Math.min(100, Math.floor((moved / total) * 100));
    const left = Math.ceil(Math.max(0, total - moved) / perSecond);
    console.log(
      `${whole(moved)} of about ${whole(total)} documents moved (${share} %), ${whole(perSecond)}/s, ${left} s left`,
    );
  };
  for await (const count of migration.move()) {
    moved += count;
    if (performance.now() - toldAt >= TELL_EVERY_MS) tell();
  }
  if (moved > 0) tell();
  await migration.drop();
  console.log('Nothing is left in the form of release 0.1.');
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
