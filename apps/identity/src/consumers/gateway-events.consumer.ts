import { decodeGatewayEvent, GATEWAY_EVENTS_TOPIC, GATEWAY_EVENTS_TOPIC_OPTIONS } from '@tollkeeper/contracts';
import {
  type ConsumerHandler,
  createTransactionalHandler,
  type DeadLetters,
  type EventLog,
  type LogConsumer,
} from '@tollkeeper/event-log';
import type { OffsetStore } from '@tollkeeper/mongo';
import type { Connection } from 'mongoose';
import type { MongoAgentStore, SeenAgent } from '../store/agent.store.ts';
import { createRecentKeys } from './recent-keys.ts';

/** Consumer group on `gateway.events`, and the name that its positions are kept under. */
export const CONSUMER_GROUP = 'identity';
const MAX_RECORDS = 1000;
const MAX_KNOWN_AGENTS = 50_000;

export interface GatewayEventsDeps {
  connection: Connection;
  offsets: OffsetStore;
  agents: MongoAgentStore;
  deadLetters: DeadLetters;
}

/** Registers the agents that events tell about. Agents and the position behind their events are one transaction. */
export function createGatewayEventsConsumer(eventLog: EventLog, deps: GatewayEventsDeps): LogConsumer {
  const handler = createGatewayEventsHandler(deps);
  const topic = GATEWAY_EVENTS_TOPIC;
  const consumer = eventLog.consumer({ group: CONSUMER_GROUP, topic, handler, maxRecords: MAX_RECORDS });
  return {
    ...consumer,
    async start() {
      await eventLog.ensureTopic(GATEWAY_EVENTS_TOPIC_OPTIONS);
      await consumer.start();
    },
  };
}

function createGatewayEventsHandler({ connection, offsets, agents, deadLetters }: GatewayEventsDeps): ConsumerHandler {
  // Nearly every event is of an agent that was seen before; these cost no write.
  const known = createRecentKeys(MAX_KNOWN_AGENTS);

  return createTransactionalHandler({
    connection,
    offsets,
    deadLetters,
    read({ value }): SeenAgent | undefined {
      const { tenantId, receivedAt, event } = decodeGatewayEvent(value);
      const agentId = event.data.agent_id;
      if (agentId === undefined || known.has(keyOf({ tenantId, agentId }))) return undefined;
      return { tenantId, agentId, seenAt: new Date(receivedAt) };
    },
    apply: (session, seen) =>
      agents.registerSeen(session, [...new Map(seen.map((agent) => [keyOf(agent), agent])).values()]),
    applied(_effect, seen) {
      for (const agent of seen) known.add(keyOf(agent));
    },
  });
}

function keyOf({ tenantId, agentId }: Pick<SeenAgent, 'tenantId' | 'agentId'>): string {
  return `${tenantId}/${agentId}`;
}
