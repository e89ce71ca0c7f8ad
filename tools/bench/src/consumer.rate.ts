import { runBareConsumer, runService } from './consumer.runs.ts';
import type { DashboardStack } from './dashboard.stack.ts';
import { fillLog } from './evaluator.traffic.ts';
import { generateSpend } from './spend.traffic.ts';

/**
 * Events a second of the dashboard's consumer, and of one that parses and does no more: both over the same full log.
 */
export async function measureConsumer(
  stack: DashboardStack,
  count: number,
): Promise<{ counted: number; parsed: number }> {
  const eventLog = await stack.openLog('rate_log');
  await fillLog(eventLog, generateSpend(count));
  const bare = await runBareConsumer(eventLog, count);
  const { service, ...run } = await runService(eventLog, (log) => stack.createDashboard('dashboard_rate', log), count);
  await service.stop();
  return { counted: run.eventsPerSecond, parsed: bare.eventsPerSecond };
}
