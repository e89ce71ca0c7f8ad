import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectMongo } from '@tollkeeper/mongo';
import { eventually, testLogger } from '@tollkeeper/testing';
import { BATCH, spend, useIngest } from './ingest.stack.ts';
import { startMongoOnSmallDisk } from './small-disk.ts';

const MIB = 1024 * 1024;
const MIN_FREE_BYTES = 64 * MIB;

const mongo = await startMongoOnSmallDisk(768);
afterAll(() => mongo.stop());

/** Posts batches, and records which events were accepted. */
function createSender({ keys, post }: ReturnType<typeof useIngest>) {
  const { apiKey, tenantId } = keys.issue();
  const accepted: string[] = [];
  return {
    tenantId,
    accepted,
    async send() {
      const body = Array.from({ length: 100 }, () => spend());
      const answer = await post({ apiKey, type: BATCH, body });
      if (answer.status === 202) accepted.push(...body.map(({ id }) => id));
      return answer;
    },
  };
}

describe('while the disk of the database is almost full', () => {
  const ingest = useIngest(mongo, undefined, {}, MIN_FREE_BYTES);

  it('new events get 503 in words, the database continues, and events are taken again once there is room', async () => {
    const { tenantId, accepted, send } = createSender(ingest);
    const { pid } = mongo.mongod;
    const diskFull = async () =>
      (await ingest.metrics.registry.getSingleMetric('event_log_disk_full')!.get()).values[0]!.value;
    expect((await send()).status).toBe(202);
    await mongo.fill(MIN_FREE_BYTES - MIB);

    const refused = await eventually(async () => {
      const answer = await send();
      expect(answer.status).toBe(503);
      return answer;
    });
    expect(refused.headers['retry-after']).toBe('10');
    expect(refused.body).toMatchObject({
      code: 'service_unavailable',
      error: expect.stringContaining('disk of the event log is almost full'),
    });
    expect(ingest.logs.text()).toContain('the disk of MongoDB is almost full');
    expect(await diskFull()).toBe(1);
    // Accepted events stay readable.
    await eventually(() => expect(ingest.logged(tenantId).map(({ event }) => event.id)).toEqual(accepted));
    expect(await mongo.freeBytes()).toBeGreaterThan(MIN_FREE_BYTES / 2);

    await mongo.makeRoom();
    await eventually(async () => expect((await send()).status).toBe(202));
    await eventually(() => expect(ingest.logged(tenantId).map(({ event }) => event.id)).toEqual(accepted));
    expect([await diskFull(), mongo.mongod.pid]).toEqual([0, pid]);
  });
});

describe('when the disk of the database has filled up to the last byte', () => {
  const ingest = useIngest(mongo, undefined, {}, 0);
  const { uri } = mongo;
  const operator = connectMongo({ uri, database: 'admin', logger: testLogger().logger, serverSelectionTimeoutMs: 500 });
  beforeAll(() => operator.start());
  afterAll(() => operator.stop());

  it('no accepted event is lost, new ones get 503, and a database started with room takes them again', async () => {
    const { tenantId, accepted, send } = createSender(ingest);
    expect((await send()).status).toBe(202);
    await mongo.fill(0);

    // A checkpoint needs space for the data written since the last one.
    const checkpoint = () => operator.connection.getClient().db('admin').command({ fsync: 1 });
    await eventually(async () => {
      await send();
      await expect(checkpoint()).rejects.toThrow();
    });
    await eventually(() => expect(mongo.exits).toEqual([expect.stringContaining('its disk is full. Make room')]));
    const refused = await send();
    expect([refused.status, refused.body]).toMatchObject([
      503,
      { code: 'service_unavailable', error: expect.stringContaining('event log') },
    ]);

    await mongo.makeRoom();
    await mongo.mongod.restart();
    await eventually(async () => expect((await send()).status).toBe(202));
    await eventually(() => {
      const ids = new Set(ingest.logged(tenantId).map(({ event }) => event.id));
      expect(accepted.filter((id) => !ids.has(id))).toEqual([]);
    });
  });
});
