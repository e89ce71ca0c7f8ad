import type { EventLog } from '@tollkeeper/event-log';
import { runBareConsumer, runService } from './consumer.runs.ts';
import type { DashboardStack } from './dashboard.stack.ts';
import { fillLog } from './evaluator.traffic.ts';
import { cpuSeconds } from '@tollkeeper/testing/processor-time';
import { LABELS } from './event.generator.ts';
import { generateSpend, tenants } from './spend.traffic.ts';

/** The time of a dashboard's consumer over a full log. */
export interface ConsumerCost {
  batch: number;
  /** How many labels of each event are tracked. */
  tracked: number;
  eventsPerSecond: number;
  /** Processor time of the dashboard's process, in microseconds per event. */
  cpuMicros: number;
  /** Processor time of its `mongod`, which includes reads of the log in it. */
  mongodMicros: number;
}

/**
 * The dashboard's consumer with each of the batch sizes, without and with tracked labels, and a consumer that only
 * parses events, over the same full log of six partitions.
 */
export async function measureConsumer(
  stack: DashboardStack,
  { count, agents, labels, batches }: { count: number; agents: number; labels: number; batches: readonly number[] },
): Promise<{ parsed: number; counted: ConsumerCost[] }> {
  const eventLog = await stack.openLog('rate_log');
  await fillLog(eventLog, generateSpend(count, 0, { agents, labels }));
  const bare = await runBareConsumer(eventLog, count);
  const counted: ConsumerCost[] = [];
  const trackedOrNot = labels === 0 ? [0] : [0, labels];
  for (const [batch, tracked] of batches.flatMap((size) => trackedOrNot.map((names) => [size, names] as const))) {
    await stack.track(tenants, Object.keys(LABELS).slice(0, tracked));
    const database = `dashboard_rate_${batch}_${tracked}`;
    const create = (log: EventLog) => stack.createDashboard(database, inBatchesOf(log, batch));
    const before = cpuSeconds(stack.mongodPid);
    const { service, eventsPerSecond, cpuMicros } = await runService(eventLog, create, count);
    const mongodMicros = ((cpuSeconds(stack.mongodPid) - before) / count) * 1e6;
    await service.stop();
    counted.push({ batch, tracked, eventsPerSecond, cpuMicros, mongodMicros });
  }
  return { parsed: bare.eventsPerSecond, counted };
}

function inBatchesOf(eventLog: EventLog, maxRecords: number): EventLog {
  return { ...eventLog, consumer: (options) => eventLog.consumer({ ...options, maxRecords }) };
}
