import { decodeGatewayEvent, GATEWAY_EVENTS_TOPIC_OPTIONS } from '@tollkeeper/contracts';
import type { ConsumerGroup, LogConsumer } from '@tollkeeper/event-log';
import { roomFor } from '@tollkeeper/kernel';
import { LRUCache } from 'lru-cache';
import type { MongoAgentStore, SeenAgent } from '../store/agent.store.ts';

/** The consumer group of the replicas. Offsets are stored under this name. */
export const CONSUMER_GROUP = 'identity';
const MAX_KNOWN_AGENTS = 50_000;

/** Registers the agents that events name. */
export function createGatewayEventsConsumer(deps: { group: ConsumerGroup; agents: MongoAgentStore }): LogConsumer {
  // Nearly all events belong to known agents, which need no write.
  const known = new LRUCache<string, true>(roomFor(MAX_KNOWN_AGENTS));

  return deps.group.consumer({
    topic: GATEWAY_EVENTS_TOPIC_OPTIONS,
    decode({ value }): SeenAgent | undefined {
      const { tenantId, receivedAt, event } = decodeGatewayEvent(value);
      const agentId = event.data.agent_id;
      if (agentId === undefined || known.get(keyOf({ tenantId, agentId })) !== undefined) return undefined;
      return { tenantId, agentId, seenAt: new Date(receivedAt) };
    },
    apply: (session, seen) =>
      deps.agents.registerSeen(session, [...new Map(seen.map((agent) => [keyOf(agent), agent])).values()]),
    applied(_effect, seen) {
      for (const agent of seen) known.set(keyOf(agent), true);
    },
  });
}

function keyOf({ tenantId, agentId }: Pick<SeenAgent, 'tenantId' | 'agentId'>): string {
  return `${tenantId}/${agentId}`;
}
