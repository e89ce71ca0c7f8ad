import { setTimeout as delay } from 'node:timers/promises';
import { GATEWAY_EVENTS_TOPIC } from '@tollkeeper/contracts';
import type { EventLog } from '@tollkeeper/event-log';
import type { Fleet, Replica } from '@tollkeeper/fleet';
import { fillLog, type TenantEvent } from './evaluator.traffic.ts';
import { cpuSeconds } from '@tollkeeper/testing/processor-time';

/** How fast a number of replicas of a service processed the same number of events. */
export interface Drained {
  replicas: number;
  eventsPerSecond: number;
  /** Processor time of all replicas, in microseconds per event. */
  cpuMicros: number;
  /** Processor time of the managed `mongod` meanwhile, to which other services write as well. */
  mongodMicros: number;
  /** Replicas that got a share of the partitions. */
  working: number;
}

export interface ReplicasOptions {
  service: 'alerts' | 'dashboard' | 'identity';
  eventLog: EventLog;
  count: number;
  /** Events number `first` to `first + count - 1`. */
  events: (count: number, first: number) => Iterable<TenantEvent>;
}

const POLL_MS = 100;

/** One replica and then three, each started over a topic that was filled while none ran. */
export async function measureReplicas(fleet: Fleet, options: ReplicasOptions): Promise<Drained[]> {
  const { service, eventLog, count, events } = options;
  const [first] = fleet.services[service];
  if (first === undefined) throw new Error(`The fleet has no ${service}`);
  await first.stop();
  await fillLog(eventLog, events(count, 0));
  const one = await drain(fleet, [first], count);
  const three = [first, await fleet.addReplica(service), await fleet.addReplica(service)];
  await Promise.all(three.map((replica) => replica.stop()));
  await fillLog(eventLog, events(count, count));
  return [one, await drain(fleet, three, count)];
}

/** From the first records that any replica applied to the last one, by their own reports. */
async function drain({ mongo }: Fleet, replicas: readonly Replica[], count: number): Promise<Drained> {
  for (const replica of replicas) replica.launch();
  let started: { at: number; done: number; cpu: number; mongodCpu: number } | undefined;
  for (;;) {
    const consumed = await Promise.all(replicas.map(consumedBy));
    const done = consumed.reduce((total, records) => total + records, 0);
    const cpu = sum(replicas.map(({ pid = 0 }) => cpuSeconds(pid)));
    const now = { at: performance.now(), done, cpu, mongodCpu: cpuSeconds(mongo?.pid ?? 0) };
    if (done > 0) started ??= now;
    if (started !== undefined && done >= count) {
      const events = done - started.done;
      return {
        replicas: replicas.length,
        eventsPerSecond: events / ((now.at - started.at) / 1_000),
        cpuMicros: ((now.cpu - started.cpu) / events) * 1e6,
        mongodMicros: ((now.mongodCpu - started.mongodCpu) / events) * 1e6,
        working: consumed.filter((records) => records > 0).length,
      };
    }
    await delay(POLL_MS);
  }
}

/** Records of the topic that the replica has applied since its launch; 0 before it answers. */
async function consumedBy({ service, opsUrl }: Replica): Promise<number> {
  const page = await fetch(`${opsUrl}/metrics`).then(
    (answer) => answer.text(),
    () => '',
  );
  const labels = `group="${service}",topic="${GATEWAY_EVENTS_TOPIC}"`;
  const lines = page.split('\n').filter((each) => each.startsWith('event_log_consumed') && each.includes(labels));
  return sum(lines.map((line) => Number(line.split(' ').at(-1))));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
