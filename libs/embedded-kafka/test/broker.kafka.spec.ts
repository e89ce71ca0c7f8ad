import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { processIdentity, waitUntilGone } from '@tollkeeper/managed-process';
import { Kafka, KafkaJSProtocolError, logLevel } from 'kafkajs';
import { type KafkaBroker, startKafka } from '../src/index.ts';

describe('the managed Apache Kafka', () => {
  let dataDirectory: string;
  let started: KafkaBroker[];

  async function start(): Promise<KafkaBroker> {
    const kafka = await startKafka({ dataDirectory });
    started.push(kafka);
    return kafka;
  }

  /** A child process that owns the broker of `dataDirectory`. */
  async function startOwner(): Promise<{ child: ChildProcess; pid: number }> {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'owner.ts'), dataDirectory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    return { child, ...(JSON.parse(line) as { pid: number }) };
  }

  async function append(kafka: KafkaBroker): Promise<void> {
    const producer = clientOf(kafka).producer({ allowAutoTopicCreation: false });
    await producer.connect();
    await producer.send({ topic: 'kept', messages: [{ value: 'a record' }] });
    await producer.disconnect();
  }

  async function count(kafka: KafkaBroker): Promise<number> {
    return withAdmin(kafka, async (admin) => {
      const offsets = await onceItLeads(() => admin.fetchTopicOffsets('kept'));
      return offsets.reduce((total, { high }) => total + Number(high), 0);
    });
  }

  /** A broker that has just started does not lead its partitions yet, and answers so. */
  async function onceItLeads<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof KafkaJSProtocolError) || !error.retriable) throw error;
        await delay(100);
      }
    }
  }

  beforeEach(async () => {
    started = [];
    dataDirectory = await mkdtemp(join(tmpdir(), 'tollkeeper-kafka-'));
  });
  afterEach(async () => {
    for (const kafka of started) await kafka.stop();
    await rm(dataDirectory, { recursive: true, force: true });
  });

  it('keeps what it acknowledged through SIGKILL, a clean stop and another start, on the same port', async () => {
    const kafka = await start();
    await withAdmin(kafka, (admin) => admin.createTopics({ topics: [{ topic: 'kept', numPartitions: 2 }] }));
    await append(kafka);
    const { brokers, pid } = kafka;

    await kafka.kill();
    expect(await processIdentity(pid)).toBeNull();
    await kafka.restart();
    expect(kafka.brokers).toBe(brokers);
    expect(kafka.pid).not.toBe(pid);
    await append(kafka);
    await kafka.stop();

    expect(await count(await start())).toBe(2);
  });

  it('answers nothing while it is paused, and stops anyway', async () => {
    const kafka = await start();
    await kafka.pause();
    const asked = withAdmin(kafka, (admin) => admin.listTopics());
    await expect(asked).rejects.toThrow();
    kafka.resume();
    expect(await withAdmin(kafka, (admin) => admin.listTopics())).toEqual([]);

    await kafka.pause();
    await kafka.stop();
    await kafka.stop();
    expect(await processIdentity(kafka.pid)).toBeNull();
  });

  it('leaves no broker behind when its owner is killed', async () => {
    const { child, pid } = await startOwner();
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await waitUntilGone(pid, 20_000)).toBe(true);
  });

  it('starts at once after its owner was killed, while the orphan may still be there', async () => {
    const { child, pid } = await startOwner();
    child.kill('SIGKILL');
    await once(child, 'exit');
    await start();
    expect(await processIdentity(pid)).toBeNull();
  });

  it('says what to install when Java is missing', async () => {
    const asked = startKafka({ dataDirectory, env: { PATH: '/nonexistent' } });
    await expect(asked).rejects.toThrow(/needs Java 17 or later.*Install a JDK.*JAVA_HOME/);
  });
});

function clientOf({ brokers }: KafkaBroker): Kafka {
  return new Kafka({
    brokers: [brokers],
    logLevel: logLevel.NOTHING,
    requestTimeout: 2_000,
    connectionTimeout: 2_000,
    retry: { retries: 2 },
  });
}

async function withAdmin<T>(kafka: KafkaBroker, use: (admin: ReturnType<Kafka['admin']>) => Promise<T>): Promise<T> {
  const admin = clientOf(kafka).admin();
  await admin.connect();
  try {
    return await use(admin);
  } finally {
    await admin.disconnect();
  }
}
