import { setTimeout as delay } from 'node:timers/promises';
import { encodeGatewayEvent, GATEWAY_EVENTS_TOPIC, GATEWAY_EVENTS_TOPIC_OPTIONS } from '@tollkeeper/contracts';
import type { EventLog } from '@tollkeeper/event-log';
import type { DashboardStack } from './dashboard.stack.ts';
import { generateSpend } from './spend.traffic.ts';

const TICK_MS = 10;
const SENT = 'bench-sent';

/**
 * Milliseconds from the append of an event to the commit of the transaction that counts it: `perSecond` events of 16
 * workspaces for some seconds, each appended separately.
 */
export async function measureVisible(stack: DashboardStack, perSecond: number, seconds: number): Promise<number[]> {
  const eventLog = await stack.openLog('visible_log');
  await eventLog.ensureTopic(GATEWAY_EVENTS_TOPIC_OPTIONS);
  const appendedAt: number[] = [];
  const milliseconds: number[] = [];
  const watched = watchedLog(eventLog, (index) => milliseconds.push(performance.now() - appendedAt[index]!));
  const dashboard = stack.createDashboard('dashboard_visible', watched);
  await dashboard.start();
  const perTick = (perSecond * TICK_MS) / 1_000;
  const startedAt = performance.now();
  const appends: Promise<void>[] = [];
  for (const { tenantId, event } of generateSpend(perSecond * seconds)) {
    const index = appendedAt.length;
    if (index % perTick === 0) await delay(Math.max(0, startedAt + (index / perTick) * TICK_MS - performance.now()));
    appendedAt.push(performance.now());
    const record = encodeGatewayEvent({ tenantId, receivedAt: new Date().toISOString(), event });
    appends.push(eventLog.append(GATEWAY_EVENTS_TOPIC, [{ ...record, headers: { [SENT]: String(index) } }]));
  }
  await Promise.all(appends);
  while (milliseconds.length < appendedAt.length) await delay(TICK_MS);
  await dashboard.stop();
  return milliseconds;
}

/** A log that reports which of the sent events were applied. */
function watchedLog(eventLog: EventLog, onApplied: (index: number) => void): EventLog {
  return {
    ...eventLog,
    consumer(options) {
      const handle: typeof options.handler.handle = async (batch, stored) => {
        await options.handler.handle(batch, stored);
        for (const { headers } of batch.records) if (headers?.[SENT] !== undefined) onApplied(Number(headers[SENT]));
      };
      return eventLog.consumer({ ...options, handler: { ...options.handler, handle } });
    },
  };
}
