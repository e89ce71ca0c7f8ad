import { afterAll, expect, it } from '@jest/globals';
import { useBreakableMongo } from '@tollkeeper/testing';
import { PASSWORD, useIdentity } from './identity.stack.ts';

// A mongod of its own, because all transactions of the server are counted.
const mongo = useBreakableMongo();
const identity = useIdentity(mongo);
afterAll(mongo.stop);

async function abortedTransactions(): Promise<number> {
  const status = await mongo.connection.getClient().db('admin').command({ serverStatus: 1 });
  return Number((status['transactions'] as { totalAborted: number }).totalAborted);
}

it('many changes of a workspace at a time do not conflict, with each other or with what others do', async () => {
  const [busy, other] = [await identity.newOwner(), await identity.newOwner()];
  const { user_id: userId } = await identity.addMember(busy, 'member');
  const before = await abortedTransactions();

  const numbers = Array.from({ length: 10 }, (_, index) => index);
  const ofBusy = (method: 'post' | 'patch', path: string, body: object) =>
    identity.call(method, `/api/v1/${path}`, { as: busy.caller, body });
  const changes = numbers.flatMap((number) => [
    ofBusy('patch', 'workspace', { name: `Name ${number}` }),
    ofBusy('patch', `members/${userId}`, { role: number % 2 === 0 ? 'admin' : 'member' }),
    ofBusy('post', 'invitations', { email: `u${number}@example.com`, role: 'member' }),
    ofBusy('post', 'agents', { agent_id: `agent-${number}`, display_name: 'Agent' }),
  ]);
  const others = [
    identity.call('patch', '/api/v1/workspace', { as: other.caller, body: { name: 'Renamed' } }),
    identity.call('post', '/api/v1/auth/login', { body: { email: other.email, password: PASSWORD } }),
  ];
  const statuses = (await Promise.all([...changes, ...others])).map(({ status }) => status);

  expect(new Set(statuses)).toEqual(new Set([200, 201]));
  expect((await abortedTransactions()) - before).toBe(0);
});
