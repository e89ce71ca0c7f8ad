import { afterAll, expect, it } from '@jest/globals';
import { useBreakableMongo } from '@tollkeeper/testing';
import { event, newTenant, useAlerts } from './alerts.stack.ts';

// A mongod of its own, since the test counts all transactions of the server.
const mongo = useBreakableMongo();
const stack = useAlerts(mongo);
afterAll(mongo.stop);

async function abortedTransactions(): Promise<number> {
  const status = await mongo.connection.getClient().db('admin').command({ serverStatus: 1 });
  return Number((status['transactions'] as { totalAborted: number }).totalAborted);
}

it('many changes of a workspace at a time do not conflict, with each other or with those of other workspaces', async () => {
  const [busy, other] = [newTenant(), newTenant()];
  const { id } = await stack.createRule(busy);
  const before = await abortedTransactions();

  const names = Array.from({ length: 20 }, (_, index) => `Name ${index}`);
  const rule = { rule_config: { window_seconds: 60, threshold: 1 } };
  await Promise.all([
    ...names.map((name) => stack.expecting(200, 'patch', busy, `/rules/${id}`, { body: { name } })),
    stack.createRule(other, rule),
  ]);
  await stack.append(other, event(stack.clock.now));
  await stack.settled();

  expect(await stack.alerts(other)).toHaveLength(1);
  expect((await abortedTransactions()) - before).toBe(0);
});
