import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createAuditTrail } from '@tollkeeper/audit-trail';
import { expect, it } from '@jest/globals';
import { connectMongo } from '@tollkeeper/mongo';
import { eventually, testLogger, useMongo } from '@tollkeeper/testing';
import { verifyChain } from '../src/domain/verification.ts';
import { createRecordStore } from '../src/store/record.store.ts';
import { useAudit } from './audit.stack.ts';
import { type Databases, TENANTS } from './changing.process.ts';

const mongo = useMongo();
const audit = useAudit(mongo);
const KILLS = 5;

it('has each change once, and nothing else, though the processes are killed again and again', async () => {
  const databases: Databases = {
    uri: mongo.uri,
    log: audit.logDatabase,
    changes: mongo.newDatabase(),
    audit: audit.database,
  };
  let made = 0;
  const start = (index: number): ChildProcess => {
    const child = fork(`${import.meta.dirname}/changing.process.ts`, [JSON.stringify(databases), String(index)]);
    child.on('message', () => (made += 1));
    return child;
  };
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = made;
    const children = [start(kill), start(kill + 1)];
    while (made < before + 20) await delay(5);
    // Anywhere: in the transaction, the append, the removal from the outbox, or the consumer.
    await delay(kill * 7);
    const ended = children.map((child) => once(child, 'exit'));
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(ended);
  }

  // The next process moves the remaining records of the outbox.
  const { logger } = testLogger();
  const changes = connectMongo({ uri: mongo.uri, database: databases.changes, logger });
  const trail = createAuditTrail({ connection: changes.connection, eventLog: audit.eventLog(), logger });
  await changes.start();
  await trail.outbox.start();
  const changed = (await changes.connection.collection('things').find().toArray()).map(({ _id }) => String(_id));
  const recorded = async () => (await audit.collection('records').distinct('target.id')).map(String);
  await eventually(async () => {
    const known = new Set(await recorded());
    expect(changed.filter((id) => !known.has(id))).toEqual([]);
    expect(await trail.outbox.depth()).toBe(0);
  });
  await trail.outbox.stop();
  await changes.stop();

  expect(changed.length).toBeGreaterThanOrEqual(20 * KILLS);
  expect((await recorded()).sort()).toEqual(changed.toSorted());
  expect(await audit.collection('records').countDocuments()).toBe(changed.length);
  const store = createRecordStore(mongo.connection.useDb(audit.database));
  for (const tenantId of TENANTS) {
    const headBehind = () => store.head(tenantId);
    const head = await headBehind();
    expect(await verifyChain({ entries: store.chain(tenantId), head, headBehind, now: Date.now })).toBeNull();
  }
});
