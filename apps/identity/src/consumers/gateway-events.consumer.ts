import { decodeGatewayEvent, GATEWAY_EVENTS_TOPIC, GATEWAY_EVENTS_TOPIC_OPTIONS } from '@tollkeeper/contracts';
import type { ConsumerHandler, DeadLetters, EventLog, LogConsumer, RecordBatch } from '@tollkeeper/event-log';
import { type OffsetStore, withTransaction } from '@tollkeeper/mongo';
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

/** Registers the agents that events tell about. A batch's agents and its position are one transaction. */
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

  async function readUnknown(batch: RecordBatch): Promise<Map<string, SeenAgent>> {
    const seen = new Map<string, SeenAgent>();
    for (const record of batch.records) {
      try {
        const { tenantId, receivedAt, event } = decodeGatewayEvent(record.value);
        const agentId = event.data.agent_id;
        if (agentId === undefined) continue;
        const key = `${tenantId}/${agentId}`;
        if (!known.has(key)) seen.set(key, { tenantId, agentId, seenAt: new Date(receivedAt) });
      } catch (error) {
        await deadLetters.setAside(batch, record, error instanceof Error ? error.message : String(error));
      }
    }
    return seen;
  }

  return {
    position: (topic, partition) => offsets.position(topic, partition),

    async handle(batch) {
      const { topic, partition, from, nextOffset: to } = batch;
      const seen = await readUnknown(batch);
      await withTransaction(connection, async (session) => {
        if (seen.size > 0) await agents.registerSeen(session, [...seen.values()]);
        await offsets.advance(session, { topic, partition, from, to });
      });
      for (const key of seen.keys()) known.add(key);
    },
  };
}
