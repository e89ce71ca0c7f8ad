import type { EventLog } from '@tollkeeper/event-log';
import { runBareConsumer, runService } from './consumer.runs.ts';
import type { DashboardStack } from './dashboard.stack.ts';
import { fillLog } from './evaluator.traffic.ts';
import { cpuSeconds } from './processor.time.ts';
import { generateSpend } from './spend.traffic.ts';

/** The time of a dashboard's consumer over a full log. */
export interface ConsumerCost {
  eventsPerSecond: number;
  /** Processor time of the dashboard's process, in microseconds per event. */
  cpuMicros: number;
  /** Processor time of its `mongod`, which includes reads of the log in it. */
  mongodMicros: number;
}

/**
 * The dashboard's consumer with each of the batch sizes, and a consumer that only parses events, over the same full log
 * of six partitions.
 */
export async function measureConsumer(
  stack: DashboardStack,
  { count, agents, batches }: { count: number; agents: number; batches: readonly number[] },
): Promise<{ parsed: number; counted: ConsumerCost[] }> {
  const eventLog = await stack.openLog('rate_log');
  await fillLog(eventLog, generateSpend(count, 0, agents));
  const bare = await runBareConsumer(eventLog, count);
  const counted: ConsumerCost[] = [];
  for (const batch of batches) {
    const create = (log: EventLog) => stack.createDashboard(`dashboard_rate_${batch}`, inBatchesOf(log, batch));
    const before = cpuSeconds(stack.mongodPid);
    const { service, eventsPerSecond, cpuMicros } = await runService(eventLog, create, count);
    const mongodMicros = ((cpuSeconds(stack.mongodPid) - before) / count) * 1e6;
    await service.stop();
    counted.push({ eventsPerSecond, cpuMicros, mongodMicros });
  }
  return { parsed: bare.eventsPerSecond, counted };
}

function inBatchesOf(eventLog: EventLog, maxRecords: number): EventLog {
  return { ...eventLog, consumer: (options) => eventLog.consumer({ ...options, maxRecords }) };
}
