import { type Db, MongoClient, MongoNetworkError, MongoServerError } from 'mongodb';
import { REPLICA_SET } from './mongod.process.ts';

const USER = 'tollkeeper';
const PRIMARY_TIMEOUT_MS = 60_000;
const SELECTION_TIMEOUT_MS = 10_000;
const POLL_MS = 20;

/** MongoDB's error codes (src/mongo/base/error_codes.yml). */
const UNAUTHORIZED = 13;
const AUTHENTICATION_FAILED = 18;
const ALREADY_INITIALIZED = 23;
const NOT_YET_INITIALIZED = 94;
const CONFIGURATION_IN_PROGRESS = 109;

const WRONG_PASSWORD =
  'the password in mongod.key is not the one of the database. Restore the right file, or start with ' +
  'an empty data directory.';

/** The connection string of the managed replica set, without a database. Contains its password: never log it. */
export function mongodUri(ports: readonly number[], password: string): string {
  const hosts = ports.map(hostOf).join();
  // A single member is connected to directly, because its clients need no other view of the set than their own.
  const set = ports.length === 1 ? 'directConnection=true' : `replicaSet=${REPLICA_SET}`;
  return `mongodb://${USER}:${password}@${hosts}/?authSource=admin&authMechanism=SCRAM-SHA-256&${set}`;
}

/**
 * Brings new or used `mongod`s to where they accept transactions of their one user: a replica set of all of them, on
 * the ports of this start. Repeats the steps of an interrupted first start.
 */
export async function prepareReplicaSet(ports: readonly [number, ...number[]], password: string): Promise<void> {
  const members = ports.map((port, _id) => ({ _id, host: hostOf(port) }));
  const ready = await adopt(mongodUri([ports[0]], password), members).catch(ifUnknownUser);
  if (!ready) await withoutUser(ports[0], (admin) => initiate(admin, members));
  const primary = await waitForMembers(ports);
  if (ready) return;
  await withoutUser(primary, async (admin) => {
    await admin.command({
      createUser: USER,
      pwd: password,
      roles: ['root'],
      mechanisms: ['SCRAM-SHA-256'],
      writeConcern: { w: 'majority' },
    });
  });
}

interface Member {
  _id: number;
  host: string;
}

/**
 * A start that was killed before it created the user has left a set on its own ports, which nobody else can be using.
 * One member elects itself at once; several that start together wait 10 s for a primary before one of them stands.
 */
async function initiate(admin: Db, members: Member[]): Promise<void> {
  const config = { _id: REPLICA_SET, version: 1, members: members.slice(0, 1) };
  try {
    await admin.command({ replSetInitiate: config });
  } catch (error) {
    if (hasCode(error, UNAUTHORIZED)) throw new Error(WRONG_PASSWORD);
    if (!hasCode(error, ALREADY_INITIALIZED)) throw error;
    await reconfigure(admin, config);
  }
  if (members.length === 1) return;
  await until(async () => (await admin.command({ hello: 1 }))['isWritablePrimary'] === true);
  await reconfigure(admin, { ...config, members });
}

/**
 * The ports differ between starts, and a member that is not in its configuration serves nobody. It closes its
 * connections when it notices, which may happen during this.
 */
async function adopt(uri: string, members: Member[]): Promise<true> {
  const deadline = Date.now() + PRIMARY_TIMEOUT_MS;
  for (;;) {
    try {
      return await withAdmin(uri, (admin) => moveMembers(admin, members));
    } catch (error) {
      if (!(error instanceof MongoNetworkError) || Date.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Moves the members to the ports of this start. Idempotent. */
async function moveMembers(admin: Db, members: Member[]): Promise<true> {
  const config = await storedConfig(admin);
  if (config.members.length !== members.length) {
    throw new Error(
      `the data directory has a replica set of ${config.members.length} members, not ${members.length}. Ask for as many, ` +
        'or start with an empty data directory.',
    );
  }
  const moved = config.members.map((member, index) => ({ ...member, host: members[index]?.host ?? member.host }));
  await reconfigure(admin, { ...config, version: config.version + 1, members: moved });
  if (members.length > 1) await standForElection(admin);
  return true;
}

/** A member accepts requests shortly before it has read its configuration. */
async function storedConfig(admin: Db): Promise<{ version: number; members: Member[] }> {
  let config: { version: number; members: Member[] } | undefined;
  await until(async () => {
    config = await admin.command({ replSetGetConfig: 1 }).then(
      (answer) => answer['config'] as { version: number; members: Member[] },
      (error: unknown) => {
        if (!hasCode(error, NOT_YET_INITIALIZED)) throw error;
        return undefined;
      },
    );
    return config !== undefined;
  });
  return config!;
}

/** Otherwise each member waits 10 s for a primary before it stands. A member that may not stand yet is refused. */
async function standForElection(admin: Db): Promise<void> {
  await until(async () => {
    const { isWritablePrimary, primary } = await admin.command({ hello: 1 });
    if (isWritablePrimary === true || primary !== undefined) return true;
    await admin.command({ replSetStepUp: 1 }).catch((error: unknown) => {
      if (!(error instanceof MongoServerError)) throw error;
    });
    return false;
  });
}

/**
 * A member that finds itself in its configuration is elected automatically, writes its term there, and refuses other
 * changes meanwhile.
 */
async function reconfigure(admin: Db, config: object): Promise<void> {
  const deadline = Date.now() + PRIMARY_TIMEOUT_MS;
  for (;;) {
    try {
      await admin.command({ replSetReconfig: config, force: true });
      return;
    } catch (error) {
      if (!hasCode(error, CONFIGURATION_IN_PROGRESS) || Date.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Resolves to the primary's port once there is one and every other member follows it. */
async function waitForMembers(ports: readonly number[]): Promise<number> {
  let primary: number | undefined;
  await until(async () => {
    const states = await Promise.all(ports.map((port) => withoutUser(port, (admin) => admin.command({ hello: 1 }))));
    primary = ports[states.findIndex(({ isWritablePrimary }) => isWritablePrimary)];
    return primary !== undefined && states.filter(({ secondary }) => secondary).length === ports.length - 1;
  });
  return primary!;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PRIMARY_TIMEOUT_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`no mongod became primary within ${PRIMARY_TIMEOUT_MS / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/**
 * The port of the member that accepts writes, or undefined while there is none. Members that do not answer are skipped.
 */
export async function findPrimary(ports: readonly number[]): Promise<number | undefined> {
  for (const port of ports) {
    const state = await withoutUser(port, (admin) => admin.command({ hello: 1 })).catch(() => undefined);
    if (state?.['isWritablePrimary'] === true) return port;
  }
  return undefined;
}

function hostOf(port: number): string {
  return `127.0.0.1:${port}`;
}

/**
 * Connects from loopback without a user, who may read a member's state, and set up one without a user ("localhost
 * exception").
 */
function withoutUser<T>(port: number, use: (admin: Db) => Promise<T>): Promise<T> {
  return withAdmin(`mongodb://${hostOf(port)}/?directConnection=true`, use);
}

async function withAdmin<T>(uri: string, use: (admin: Db) => Promise<T>): Promise<T> {
  const client = new MongoClient(uri, { maxPoolSize: 1, serverSelectionTimeoutMS: SELECTION_TIMEOUT_MS });
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
