import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, useBreakableMongo } from '@tollkeeper/testing';
import { KATHMANDU_TENANT, useDashboard } from './dashboard.stack.ts';
import { after, allAnswers, before, recordEarlier } from './earlier.month.ts';
import { storedEvents } from './stored.events.ts';

const mongo = useBreakableMongo();
const [fresh, old, counting] = [useDashboard(mongo), useDashboard(mongo), useDashboard(mongo)];
afterAll(() => mongo.stop());

const databaseOf = (of: typeof fresh) => mongo.connection.useDb(of.database);

/** Runs `npm run migrate`, and `interrupt` once it has moved something. Resolves to its exit code and what it said. */
async function migrate(of: typeof fresh, interrupt?: (kill: () => void) => Promise<void>) {
  const script = `${import.meta.dirname}/../scripts/migrate.ts`;
  const env = { ...process.env, NODE_OPTIONS: '', MONGODB_URI: mongo.uri, MONGODB_DATABASE: of.database };
  const child = spawn(process.execPath, [script], { env });
  let said = '';
  let begun = interrupt === undefined;
  child.stderr.on('data', (text) => (said += String(text)));
  child.stdout.on('data', (text) => {
    said += String(text);
    if (begun) return;
    begun = true;
    void interrupt?.(() => child.kill('SIGKILL'));
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, said };
}

/** The database has the collections of this release alone, with their indexes, and every event. */
async function expectMoved(of: typeof fresh): Promise<void> {
  const database = databaseOf(of);
  const namesOf = async ({ db }: typeof database) =>
    (await db!.listCollections().toArray()).map(({ name }) => name).sort();
  expect(await namesOf(database)).toEqual(await namesOf(databaseOf(fresh)));
  expect(await storedEvents(database)).toBe(await storedEvents(databaseOf(fresh)));
  for (const name of ['chunks', 'rollups', 'blocked_events']) {
    const [expected, actual] = [
      await databaseOf(fresh).collection(name).indexes(),
      await database.collection(name).indexes(),
    ];
    expect(actual).toEqual(expected);
  }
}

describe('npm run migrate', () => {
  let expected: Awaited<ReturnType<typeof allAnswers>>;
  beforeAll(async () => {
    await fresh.report(KATHMANDU_TENANT, [...before, ...after]);
    expected = await allAnswers(fresh);
  });

  it('moves a month of 0.1 and leaves nothing of it, though it is killed again and again, and changes no answer', async () => {
    await recordEarlier(databaseOf(old), [...before, ...after]);
    const told = () => old.logs.lines().filter(({ msg }) => String(msg).includes('in the form of release 0.1'));
    expect(told()).toEqual([]);
    await old.restart();
    await eventually(() => expect(told()).toHaveLength(1));

    // The first kill comes at once. A later one may come too late, when all is moved.
    let kills = 0;
    for (; kills < 6; kills += 1) {
      const { code, said } = await migrate(old, async (end) => {
        if (kills > 0) await delay(Math.random() * 300);
        end();
      });
      if (code === 0) break;
      expect([code, said]).toEqual([null, expect.stringMatching(/^[\d,]+ of about [\d,]+ documents moved \(\d+ %\)/)]);
    }
    expect(kills).toBeGreaterThan(0);
    const { code, said } = await migrate(old);
    expect([code, said.trim().split('\n').at(-1)]).toEqual([0, 'Nothing is left in the form of release 0.1.']);

    await expectMoved(old);
    expect(await allAnswers(old)).toEqual(expected);
    // All of it is known.
    await old.report(KATHMANDU_TENANT, [...after, ...before]);
    await expectMoved(old);
    expect(await allAnswers(old)).toEqual(expected);
    expect(await migrate(old)).toEqual({ code: 0, said: 'Nothing is left in the form of release 0.1.\n' });
  });

  it('moves it while the service counts events and the database is killed', async () => {
    await recordEarlier(databaseOf(counting), before);
    await counting.restart();
    const reported = (async () => {
      for (let at = 0; at < after.length; at += 20) {
        // As a gateway does that gets no answer.
        await eventually(() => counting.append(KATHMANDU_TENANT, after.slice(at, at + 20)));
        await delay(40);
      }
    })();
    for (let kill = 0; kill < 2; kill += 1) {
      await migrate(counting, async () => {
        await mongo.kill();
        await mongo.restart();
      });
    }
    const { code, said } = await migrate(counting);
    expect([code, said]).toEqual([0, expect.stringContaining('Nothing is left')]);
    await reported;
    await counting.caughtUp();
    await expectMoved(counting);
    expect(await allAnswers(counting)).toEqual(expected);
  });

  it('says what to do in a database that this release has never been started on', async () => {
    const { code, said } = await migrate({ ...fresh, database: mongo.newDatabase() });
    expect([code, said]).toEqual([1, expect.stringContaining('Start the dashboard of this release on it once')]);
  });
});
