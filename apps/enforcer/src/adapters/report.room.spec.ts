import { expect, it } from '@jest/globals';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { testLogger } from '@tollkeeper/testing';
import { createReportRoom } from './report.room.ts';

const MB = 1_000_000;
const [eve, ada] = [provenTenantId('ws_eve'), provenTenantId('ws_ada')];

/** A room whose clock is stopped, and the work that began in it. */
function newRoom() {
  const { logger, lines } = testLogger();
  const clock = { now: 0 };
  const refused = { count: 0, inc: () => void (refused.count += 1) };
  const room = createReportRoom({ refused, logger, now: () => clock.now });
  const begun: string[] = [];
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const run = (tenantId: TenantId, name: string, bytes = 1_000, untilFinished = true) =>
    room.run({ tenantId, bytes, deadline: 0 }, async () => {
      begun.push(name);
      if (untilFinished) await finished;
    });
  return { run, begun, finish, clock, refused, lines };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('takes two messages of a workspace at a time, and those of all others meanwhile', async () => {
  const { run, begun, finish } = newRoom();
  const taken = [1, 2, 3].map((nth) => run(eve, `eve ${nth}`));
  taken.push(run(ada, 'ada'));
  await turn();
  expect(begun).toEqual(['eve 1', 'eve 2', 'ada']);
  finish();
  await Promise.all(taken);
  expect(begun).toEqual(['eve 1', 'eve 2', 'ada', 'eve 3']);
});

it('keeps 8 MiB of a workspace in memory, and refuses more of it at once', async () => {
  const { run, begun, finish } = newRoom();
  const held = Array.from({ length: 8 }, (_, nth) => run(eve, `eve ${nth}`, MB));
  const refusal = { code: 'rate_limited', message: expect.stringContaining('Log fewer requests') };
  await expect(run(eve, 'too much', MB)).rejects.toMatchObject(refusal);
  await run(ada, 'ada', MB, false);
  finish();
  // The last ones exceed the bytes of a second, and may not wait here.
  await Promise.allSettled(held);
  expect(begun).not.toContain('too much');
  expect(begun).toContain('ada');
});

it('takes messages while any of the bytes of a second are left, and the next ones later', async () => {
  const { run, begun, clock, refused, lines } = newRoom();
  for (let nth = 0; nth < 9; nth += 1) await run(eve, `eve ${nth}`, 1.1 * MB, false).catch(() => undefined);
  expect(begun).toEqual(Array.from({ length: 8 }, (_, nth) => `eve ${nth}`));
  expect(refused.count).toBe(1);
  expect(lines()).toMatchObject([{ tenant_id: eve, msg: expect.stringContaining('so its gateways wait') }]);
  await run(ada, 'ada', MB, false);
  clock.now += 1_000;
  await run(eve, 'later', MB, false);
  expect(begun.slice(8)).toEqual(['ada', 'later']);
});

it('counts a message of a few bytes as a kilobyte, since each costs something', async () => {
  const { run, begun } = newRoom();
  for (let nth = 0; nth < 8_010; nth += 1) await run(eve, 'eve', 1, false).catch(() => undefined);
  expect(begun).toHaveLength(8_000);
});
