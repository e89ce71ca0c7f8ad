import { type Db, MongoClient, MongoServerError } from 'mongodb';
import { REPLICA_SET } from './mongod.process.ts';

const USER = 'tollkeeper';
const PRIMARY_TIMEOUT_MS = 30_000;
const POLL_MS = 20;

/** MongoDB's error codes (src/mongo/base/error_codes.yml). */
const UNAUTHORIZED = 13;
const AUTHENTICATION_FAILED = 18;
const ALREADY_INITIALIZED = 23;

const WRONG_PASSWORD =
  'the password in mongod.key is not the one that the database was made with. Put the right file back, or start with ' +
  'an empty data directory.';

/** The connection string of the managed `mongod`, without a database. Holds its password: never log it. */
export function mongodUri(port: number, password: string): string {
  const options = 'authSource=admin&authMechanism=SCRAM-SHA-256&directConnection=true';
  return `mongodb://${USER}:${password}@127.0.0.1:${port}/?${options}`;
}

/**
 * Brings a fresh or a used `mongod` to where it takes transactions from the one user that it has: a replica set with
 * itself, on the port of this start, as the primary. Repeats what an interrupted first start did not finish.
 */
export async function prepareReplicaSet(port: number, password: string): Promise<void> {
  const member = { _id: 0, host: `127.0.0.1:${port}` };
  const ready = await withAdmin(mongodUri(port, password), (admin) => adopt(admin, member.host)).catch(ifUnknownUser);
  if (ready) return;
  // Without a user, mongod lets a loopback client set it up ("localhost exception").
  await withAdmin(`mongodb://127.0.0.1:${port}/?directConnection=true`, async (admin) => {
    await initiate(admin, member);
    await waitForPrimary(admin);
    await admin.command({
      createUser: USER,
      pwd: password,
      roles: ['root'],
      mechanisms: ['SCRAM-SHA-256'],
      writeConcern: { w: 'majority' },
    });
  });
}

/** A start that was killed before it made the user has left a set on its own port, which nobody else can be using. */
async function initiate(admin: Db, member: { _id: number; host: string }): Promise<void> {
  const config = { _id: REPLICA_SET, version: 1, members: [member] };
  try {
    await admin.command({ replSetInitiate: config });
  } catch (error) {
    if (hasCode(error, UNAUTHORIZED)) throw new Error(WRONG_PASSWORD);
    if (!hasCode(error, ALREADY_INITIALIZED)) throw error;
    await admin.command({ replSetReconfig: config, force: true });
  }
}

/** The ports of two starts differ, and a member that doesn't find itself in the configuration serves nobody. */
async function adopt(admin: Db, host: string): Promise<true> {
  const { config } = await admin.command({ replSetGetConfig: 1 });
  const [member] = config.members as { host: string }[];
  if (member && member.host !== host) {
    const next = { ...config, version: config.version + 1, members: [{ ...member, host }] };
    await admin.command({ replSetReconfig: next, force: true });
  }
  await waitForPrimary(admin);
  return true;
}

async function waitForPrimary(admin: Db): Promise<void> {
  const deadline = Date.now() + PRIMARY_TIMEOUT_MS;
  while (!(await admin.command({ hello: 1 })).isWritablePrimary) {
    if (Date.now() > deadline) throw new Error(`mongod did not become primary within ${PRIMARY_TIMEOUT_MS / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function withAdmin<T>(uri: string, use: (admin: Db) => Promise<T>): Promise<T> {
  const client = new MongoClient(uri, { maxPoolSize: 1, serverSelectionTimeoutMS: PRIMARY_TIMEOUT_MS });
  try {
    await client.connect();
    return await use(client.db('admin'));
  } finally {
    await client.close();
  }
}

function ifUnknownUser(error: unknown): false {
  if (hasCode(error, AUTHENTICATION_FAILED)) return false;
  throw error;
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof MongoServerError && error.code === code;
}
