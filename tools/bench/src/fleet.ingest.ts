import { once } from 'node:events';
import { encodeGatewayEvent, type GatewayEvent } from '@tollkeeper/contracts';
import type { Fleet } from '@tollkeeper/fleet';
import { provenTenantId } from '@tollkeeper/kernel';
import { generateBatches } from './event.generator.ts';
import { cpuSeconds } from '@tollkeeper/testing/processor-time';
import { startServer } from './server.process.ts';
import type { LoadRequest, LoadResult } from './servers/load.worker.ts';
import type { ProduceRequest, ProduceResult } from './servers/producer.worker.ts';
import { whole } from './statistics.ts';

export interface IngestRounds {
  /** Events per second through the edge, by round, with the median and the 99th percentile of request times. */
  edge: { eventsPerSecond: number; p50Ms: number; p99Ms: number }[];
  /** Records per second of the kafkajs producer, by round. */
  direct: ProduceResult[];
  /** Processor time in microseconds per event, over all rounds, of each process on the way. */
  cpuMicros: Map<string, number>;
}

export interface IngestOptions {
  rounds: number;
  seconds: number;
  /** Concurrent requests, or sends of the producer. */
  connections: number;
}

/** The batch size of a gateway. */
export const BATCH = 100;
/** Different batches, so that no process benefits from repeated data. */
const BATCHES = 200;
const WARM_UP_SECONDS = 3;
const HOUR_MS = 3_600_000;

/** Alternates between batches through gateway and ingest to Kafka, and their records produced directly. */
export async function measureIngest(fleet: Fleet, options: IngestOptions): Promise<IngestRounds> {
  const { rounds, seconds, connections } = options;
  const now = Date.now();
  const batches = [...generateBatches({ count: BATCHES * BATCH, start: now - HOUR_MS, end: now }, BATCH)];
  const load = await startServer('load.worker.ts');
  const producer = await startServer('producer.worker.ts');
  const post = async (duration: number): Promise<LoadResult> => {
    load.process.send(toLoad(fleet, batches, connections, duration));
    const [result] = (await once(load.process, 'message')) as [LoadResult];
    if (result.failed > 0) throw new Error(`${result.failed} posts were not accepted`);
    return result;
  };
  const produce = async (duration: number): Promise<ProduceResult> => {
    producer.process.send(toProduction(fleet, batches, connections, duration));
    const [result] = (await once(producer.process, 'message')) as [ProduceResult];
    return result;
  };

  try {
    await post(WARM_UP_SECONDS);
    await produce(WARM_UP_SECONDS);
    const measured: IngestRounds = { edge: [], direct: [], cpuMicros: new Map() };
    const processes = processesOf(fleet);
    const used = new Map<string, number>();
    let posted = 0;
    for (let round = 0; round < rounds; round += 1) {
      const before = processes.map(({ pid }) => cpuSeconds(pid));
      const { requestsPerSecond, p50Ms, p99Ms } = await post(seconds);
      for (const [index, { name, pid }] of processes.entries()) {
        used.set(name, (used.get(name) ?? 0) + cpuSeconds(pid) - (before[index] ?? 0));
      }
      posted += requestsPerSecond * seconds * BATCH;
      measured.edge.push({ eventsPerSecond: requestsPerSecond * BATCH, p50Ms, p99Ms });
      measured.direct.push(await produce(seconds));
      const rates = [measured.edge[round]!.eventsPerSecond, measured.direct[round]!.recordsPerSecond].map(whole);
      console.error(`ingest, round ${round + 1} of ${rounds}: edge / direct ${rates.join(' / ')} events/s`);
    }
    for (const [name, cpu] of used) measured.cpuMicros.set(name, (cpu / posted) * 1e6);
    return measured;
  } finally {
    await load.stop();
    await producer.stop();
  }
}

/** The processes through which an event passes into the log. */
function processesOf({ services, kafka }: Fleet): { name: string; pid: number }[] {
  const replicas = [...services.gateway, ...services.ingest].map(({ name, pid = 0 }) => ({ name, pid }));
  return kafka === null ? replicas : [...replicas, { name: 'Kafka', pid: kafka.pid }];
}

function toLoad(fleet: Fleet, batches: GatewayEvent[][], connections: number, seconds: number): LoadRequest {
  return {
    url: `${fleet.baseUrl}/api/v1/events`,
    headers: {
      authorization: `Bearer ${fleet.apiKey}`,
      'content-type': 'application/cloudevents-batch+json',
    },
    bodies: batches.map((events) => JSON.stringify(events)),
    ...{ connections, seconds },
  };
}

function toProduction(fleet: Fleet, batches: GatewayEvent[][], inFlight: number, seconds: number): ProduceRequest {
  if (fleet.kafka === null) throw new Error('The benchmark needs the managed Kafka');
  const tenantId = provenTenantId('ws_bench');
  const receivedAt = new Date().toISOString();
  return {
    brokers: fleet.kafka.brokers,
    batches: batches.map((events) => ({
      key: tenantId,
      values: events.map((event) => encodeGatewayEvent({ tenantId, receivedAt, event }).value.toString()),
    })),
    ...{ inFlight, seconds },
  };
}
