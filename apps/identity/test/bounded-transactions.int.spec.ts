import { afterAll, describe, expect, it } from '@jest/globals';
import { encodeGatewayEvent, GATEWAY_EVENTS_TOPIC } from '@tollkeeper/contracts';
import { newId, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { eventually, useBreakableMongo } from '@tollkeeper/testing';
import { useIdentity } from './identity.stack.ts';

/** The cache size of the standalone. */
const mongo = useBreakableMongo({ cacheSizeMb: 96 });
const identity = useIdentity(mongo);
afterAll(() => mongo.stop());

interface Seen {
  tenantId: TenantId;
  agentId: string;
}

/** Puts the records of all workspaces into one partition, by one key. */
function report(seen: Seen[]): Promise<void> {
  const records = seen.map(({ tenantId, agentId }) => {
    const event = { id: newId('evt'), source: '/test', type: 'tool.called', time: '2026-11-21T17:00:00.000Z' };
    const known = { specversion: '1.0' as const, ...event, data: { agent_id: agentId } };
    const { value } = encodeGatewayEvent({ tenantId, receivedAt: '2026-11-21T17:00:01.000Z', event: known });
    return { key: 'one partition', value };
  });
  return identity.eventLog().append(GATEWAY_EVENTS_TOPIC, records);
}

const newTenant = () => provenTenantId(newId('ws'));
const agentsOf = (tenantId: TenantId) => identity.collection('agents').countDocuments({ tenantId });

describe('on the cache of the standalone', () => {
  it.each<[string, () => Seen[]]>([
    [
      '9,000 agents with the longest names',
      () => {
        const tenantId = newTenant();
        return Array.from({ length: 9_000 }, (_, index) => ({ tenantId, agentId: `${index}`.padEnd(128, 'x') }));
      },
    ],
    [
      'agents of 1,000 workspaces in a batch',
      () => Array.from({ length: 1_000 }, () => ({ tenantId: newTenant(), agentId: 'agent' })),
    ],
  ])('%s are registered, and those of a neighbour in the partition with them', async (_what, agents) => {
    const seen = agents();
    const neighbour = newTenant();
    await report([...seen, { tenantId: neighbour, agentId: 'mine' }]);
    await eventually(async () => expect(await agentsOf(neighbour)).toBe(1));
    const tenantIds = [...new Set(seen.map(({ tenantId }) => tenantId))];
    expect(await identity.collection('agents').countDocuments({ tenantId: { $in: tenantIds } })).toBe(seen.length);
  });
});

describe('an event whose agent can never be stored', () => {
  it('is set aside with the reason, and the agents of those around it are registered', async () => {
    const [sender, neighbour] = [newTenant(), newTenant()];
    await identity.command({ collMod: 'agents', validator: { agentId: { $ne: 'forbidden' } } });
    await report([
      { tenantId: neighbour, agentId: 'before' },
      { tenantId: sender, agentId: 'forbidden' },
      { tenantId: neighbour, agentId: 'behind' },
    ]);
    await eventually(async () => expect(await agentsOf(neighbour)).toBe(2));
    expect(await agentsOf(sender)).toBe(0);
    expect(identity.logs.lines()).toContainEqual(
      expect.objectContaining({
        msg: 'record set aside in gateway.events.dead',
        reason: expect.stringContaining('Document failed validation'),
      }),
    );
  });
});
