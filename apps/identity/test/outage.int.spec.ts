import { afterAll, describe, expect, it } from '@jest/globals';
import { encodeGatewayEvent, GATEWAY_EVENTS_TOPIC } from '@tollkeeper/contracts';
import { eventually, useBreakableMongo } from '@tollkeeper/testing';
import { type TestOwner, useIdentity } from './identity.stack.ts';

const mongo = useBreakableMongo();
const identity = useIdentity(mongo);
afterAll(mongo.stop);

const agentsOf = async ({ caller }: TestOwner) => identity.call('get', '/api/v1/agents', { as: caller });

async function seen({ tenantId }: TestOwner, agentId: string): Promise<void> {
  const time = new Date(identity.clock.now).toISOString();
  const data = { agent_id: agentId, run_id: 'r' };
  const event = { specversion: '1.0' as const, id: agentId, source: 'gw', type: 'guard.custom', time, data };
  await identity.eventLog().append(GATEWAY_EVENTS_TOPIC, [encodeGatewayEvent({ tenantId, event, receivedAt: time })]);
}

describe('identity without MongoDB', () => {
  it('answers 503 to log-ins and sessions and is not ready; when it is back sessions hold and agents register again', async () => {
    const owner = await identity.newOwner();
    await seen(owner, 'before');
    await eventually(async () => expect((await agentsOf(owner)).body.items).toHaveLength(1));

    await mongo.kill();
    for (const answer of [await identity.login(owner.email), await agentsOf(owner)]) {
      expect([answer.status, answer.body.code]).toEqual([503, 'service_unavailable']);
      expect(answer.headers['retry-after']).toMatch(/^\d+$/);
    }
    await eventually(() => expect(identity.ready()).rejects.toThrow('mongo'));

    await mongo.restart();
    await eventually(() => identity.ready());
    expect((await identity.login(owner.email)).status).toBe(200);
    await seen(owner, 'after');
    await eventually(async () => expect((await agentsOf(owner)).body.items).toHaveLength(2));
  });
});
