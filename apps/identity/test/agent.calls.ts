import { encodeGatewayEvent, GATEWAY_EVENTS_TOPIC, type GatewayEvent } from '@tollkeeper/contracts';
import { newId, type TenantId } from '@tollkeeper/kernel';
import type { TestOwner, useIdentity } from './identity.stack.ts';

export const PATH = '/api/v1/agents';

export function eventOf(data: Record<string, unknown>, type = 'tool.called'): GatewayEvent {
  return { specversion: '1.0', id: newId('evt'), source: '/test', type, time: '2026-11-21T17:00:00.000Z', data };
}

/** The calls of `/agents`, and events that name agents. */
export function agentCalls(identity: ReturnType<typeof useIdentity>) {
  const list = async (owner: TestOwner, query = '') =>
    (await identity.call('get', PATH + query, { as: owner.caller })).body;
  return {
    create: (owner: TestOwner, agentId: string, name = 'Name') =>
      identity.call('post', PATH, { as: owner.caller, body: { agent_id: agentId, display_name: name } }),
    list,
    report: (tenantId: TenantId, events: GatewayEvent[], receivedAt = '2026-11-21T17:00:01.000Z') =>
      identity.eventLog().append(
        GATEWAY_EVENTS_TOPIC,
        events.map((event) => encodeGatewayEvent({ tenantId, receivedAt, event })),
      ),
    async idsOf(owner: TestOwner): Promise<string[]> {
      return ((await list(owner)) as { items: { agent_id: string }[] }).items.map(({ agent_id }) => agent_id);
    },
  };
}
