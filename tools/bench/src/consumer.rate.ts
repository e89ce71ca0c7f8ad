import { runBareConsumer, runService } from './consumer.runs.ts';
import type { DashboardStack } from './dashboard.stack.ts';
import { fillLog } from './evaluator.traffic.ts';
import { cpuSeconds } from './processor.time.ts';
import { generateSpend } from './spend.traffic.ts';

/**
 * Events a second of the dashboard's consumer, and of one that parses and does no more: both over the same full log.
 * Processor time of the dashboard's process and of its `mongod`, in microseconds an event; that of `mongod` with
 * reading the log, which is in it.
 */
export async function measureConsumer(
  stack: DashboardStack,
  count: number,
): Promise<{ counted: number; parsed: number; cpuMicros: number; mongodMicros: number }> {
  const eventLog = await stack.openLog('rate_log');
  await fillLog(eventLog, generateSpend(count));
  const bare = await runBareConsumer(eventLog, count);
  const before = cpuSeconds(stack.mongodPid);
  const { service, ...run } = await runService(eventLog, (log) => stack.createDashboard('dashboard_rate', log), count);
  const mongodMicros = ((cpuSeconds(stack.mongodPid) - before) / count) * 1e6;
  await service.stop();
  return { counted: run.eventsPerSecond, parsed: bare.eventsPerSecond, cpuMicros: run.cpuMicros, mongodMicros };
}
