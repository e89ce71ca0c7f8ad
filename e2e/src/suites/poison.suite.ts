import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encodeGatewayEvent, GATEWAY_EVENTS_TOPIC } from '@tollkeeper/contracts';
import { eventually } from '@tollkeeper/testing';
import { Kafka, type KafkaMessage, logLevel, type Message } from 'kafkajs';
import { logIn } from '../api.client.ts';
import type { FleetStage } from '../fleet.stage.ts';
import { readMetric } from '../metrics.ts';
import { newWatchedWorkspace, type WatchedWorkspace } from '../watched.workspace.ts';

const DEAD_TOPIC = `${GATEWAY_EVENTS_TOPIC}.dead`;
/** The most that a broker accepts by default, and more than the log's own appenders write. */
const LARGE_BYTES = 1_048_000;

const NOT_JSON = { value: '{"v": 1, "tenant_id"' };
const POISON: { what: string; message: Message; reason: RegExp }[] = [
  { what: 'bad JSON', message: NOT_JSON, reason: /is not JSON/ },
  { what: 'a version of the future', message: { value: futureVersion() }, reason: /\bv: / },
  { what: '1 MB of something', message: { value: Buffer.alloc(LARGE_BYTES, 'x') }, reason: /is not JSON/ },
  { what: 'no value', message: { value: null }, reason: /is not JSON/ },
  { what: 'no key', message: { key: null, ...NOT_JSON }, reason: /is not JSON/ },
];

export function describePoison(stage: FleetStage): void {
  describe('unreadable records, in the midst of the events of a workspace', () => {
    let kafka: Kafka;
    let workspace: WatchedWorkspace;
    /** The offsets in the log, in the order of POISON. */
    let offsets: string[];

    beforeAll(async () => {
      const target = stage.deployment();
      const owner = await logIn(target, target.owner);
      workspace = await newWatchedWorkspace({ target, owner, receiver: stage.receiver(), alarms: 2 });
      kafka = new Kafka({ brokers: [target.fleet.kafka!.brokers], logLevel: logLevel.NOTHING });
      const { gateway, nextBatch, mark } = workspace;
      for (let batch = 0; batch < 5; batch++) await gateway.report(nextBatch(10));
      offsets = await appendPoison(kafka, workspace.workspace.id);
      for (let batch = 0; batch < 5; batch++) await gateway.report(nextBatch(10));
      await mark('agent-behind');
    });
    afterAll(() => workspace.gateway.close());

    it('hold up nothing behind them: events are counted, agents registered, and alerts fire and arrive', async () => {
      await eventually(async () => {
        expect(await workspace.sees('agent-behind')).toEqual({ counted: true, registered: true, notified: true });
        await workspace.expectExact();
      });
    });

    it('are dead letters, from each group that could not read them, with the reason and the place', async () => {
      const letters = await readAll(kafka, DEAD_TOPIC, (found) =>
        ['dashboard', 'identity'].every((group) => lettersOf(group, found).size === POISON.length),
      );
      for (const group of ['dashboard', 'identity']) {
        const ofGroup = lettersOf(group, letters);
        expect([...ofGroup.keys()]).toEqual(offsets);
        for (const [index, { message, reason }] of POISON.entries()) {
          const { value, headers } = ofGroup.get(offsets[index]!)!;
          expect(String(headers?.['dead-reason'])).toMatch(reason);
          expect(String(headers?.['dead-topic'])).toBe(GATEWAY_EVENTS_TOPIC);
          const original = Buffer.from(message.value ?? '');
          expect(original.subarray(0, value?.length).equals(value ?? Buffer.alloc(0))).toBe(true);
          expect(Number(headers?.['dead-value-bytes'] ?? value?.length)).toBe(original.length);
        }
      }
      // Alerts skips a record before parsing if no rule counts its type. A record without a type might have been
      // counted.
      expect(lettersOf('alerts', letters).has(offsets[0]!)).toBe(true);
    });

    it.each(['dashboard', 'identity'] as const)('are counted in a metric of %s', async (service) => {
      const [replica] = stage.deployment().fleet.services[service];
      const samples = await readMetric(replica!, 'event_log_dead_letters_total');
      expect(samples).toMatchObject([{ labels: { topic: GATEWAY_EVENTS_TOPIC }, value: POISON.length }]);
    });
  });
}

/** A valid event, except for the version of its record. */
function futureVersion(): string {
  const time = new Date().toISOString();
  const event = { specversion: '1.0', id: 'e1', source: '/future', type: 'alarm.mark', time, data: {} } as const;
  type Parts = Parameters<typeof encodeGatewayEvent>[0];
  const { value } = encodeGatewayEvent({ tenantId: 'ws_1' as Parts['tenantId'], receivedAt: time, event });
  return value.toString().replace('"v":1', '"v":2');
}

/** Appends them to the topic; resolves to their offsets. */
async function appendPoison(kafka: Kafka, key: string): Promise<string[]> {
  const admin = kafka.admin();
  await admin.connect();
  const bounds = await admin.fetchTopicOffsets(GATEWAY_EVENTS_TOPIC);
  await admin.disconnect();
  const { partition } = bounds.find(({ high }) => high !== '0')!;
  const producer = kafka.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  const offsets: string[] = [];
  for (const { message } of POISON) {
    const [appended] = await producer.send({
      topic: GATEWAY_EVENTS_TOPIC,
      messages: [{ key, ...message, partition }],
    });
    offsets.push(appended?.baseOffset ?? '');
  }
  await producer.disconnect();
  return offsets;
}

/** Reads a topic from its start until `isEnough`. */
async function readAll(
  kafka: Kafka,
  topic: string,
  isEnough: (found: readonly KafkaMessage[]) => boolean,
): Promise<KafkaMessage[]> {
  const found: KafkaMessage[] = [];
  const consumer = kafka.consumer({ groupId: 'e2e', maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({ eachMessage: async ({ message }) => void found.push(message) });
  await eventually(() => expect(isEnough(found)).toBe(true));
  await consumer.disconnect();
  return found;
}

/** The dead letters of a group by their offset in the log. Repeated ones count once. */
function lettersOf(group: string, letters: readonly KafkaMessage[]): Map<string, KafkaMessage> {
  const own = letters.filter(({ headers }) => String(headers?.['dead-group']) === group);
  return new Map(own.map((letter) => [String(letter.headers?.['dead-offset']), letter]));
}
