import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { connectMongo, withTransaction } from '@tollkeeper/mongo';
import { eventually, testLogger, useMongo } from '@tollkeeper/testing';
import { createRuleBook } from '../src/domain/rule-book.ts';
import { createRuleWatcher } from '../src/evaluation/rule.watcher.ts';
import { createRuleChanges } from '../src/store/rule.changes.ts';

const testMongo = useMongo();
const database = testMongo.newDatabase();

/** The state of a process; `listed` are the workspaces whose rules its watcher has read. */
function startReplica() {
  const mongo = connectMongo({ uri: testMongo.uri, database, logger: testLogger().logger });
  const changes = createRuleChanges(mongo.connection);
  const listed: TenantId[] = [];
  const rules = {
    async list(tenantId: TenantId) {
      listed.push(tenantId);
      return [];
    },
  };
  const watcher = createRuleWatcher({ book: createRuleBook(), changes, rules });
  /** Makes a change in a transaction that stays open during `meanwhile`. */
  const change = (tenantId: TenantId, meanwhile = async () => {}) =>
    withTransaction(mongo.connection, async (session) => {
      await changes.record(session, tenantId);
      await meanwhile();
    });
  return { mongo, changes, listed, watcher, change };
}

const replicas = [startReplica(), startReplica()] as const;
const [one, two] = replicas;
const newTenant = () => provenTenantId(newId('ws'));

beforeAll(async () => {
  for (const { mongo } of replicas) await mongo.start();
});
afterAll(async () => {
  for (const { mongo } of replicas) await mongo.stop();
});

describe('changes of rules', () => {
  it('of one workspace wait for those of no other', async () => {
    const [a, b] = [newTenant(), newTenant()];
    await one.change(a);
    await one.change(a, async () => {
      let attempts = 0;
      await withTransaction(two.mongo.connection, async (session) => {
        attempts += 1;
        // Retrying would wait for the other transaction, which waits for this one.
        if (attempts > 1) throw new Error('The change of b conflicts with that of a');
        await two.changes.record(session, b);
      });
    });
  });

  it('of one workspace, also its first ones, come one after the other', async () => {
    const tenants = Array.from({ length: 10 }, newTenant);
    const times = Array.from({ length: 6 }, (_, index) => index);
    const made = times.flatMap((time) => tenants.map((tenantId) => replicas[time % 2]!.change(tenantId)));
    await Promise.all(made);
    const found = new Map((await one.changes.since(null)).map(({ tenantId, revision }) => [tenantId, revision]));
    expect(tenants.map((tenantId) => found.get(tenantId))).toEqual(tenants.map(() => times.length));
  });

  it('are seen by every replica, also those that are committed after others that began later', async () => {
    const [early, late] = [newTenant(), newTenant()];
    const begunAt = async (tenantId: TenantId) =>
      (await two.changes.since(null)).find((change) => change.tenantId === tenantId)!.begunAt;
    await one.change(early);
    await two.watcher.refresh();
    const before = await begunAt(early);
    let attempts = 0;
    await one.change(early, async () => {
      attempts += 1;
      await eventually(async () => {
        await two.change(late);
        // More than a second behind the start of the open transaction.
        expect((await begunAt(late)).getTime()).toBeGreaterThan(before.getTime() + 2_000);
      });
      await two.watcher.refresh();
      two.listed.length = 0;
    });
    expect(attempts).toBe(1);

    await two.watcher.refresh();
    expect(two.listed).toEqual([early]);
  });

  it('are read once each', async () => {
    await one.change(newTenant());
    await one.watcher.refresh();
    one.listed.length = 0;
    await one.watcher.refresh();
    expect(one.listed).toEqual([]);
  });
});
