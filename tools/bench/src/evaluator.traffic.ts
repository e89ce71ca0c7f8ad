import {
  encodeGatewayEvent,
  GATEWAY_EVENTS_TOPIC,
  GATEWAY_EVENTS_TOPIC_OPTIONS,
  type GatewayEvent,
} from '@tollkeeper/contracts';
import type { EventLog } from '@tollkeeper/event-log';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import type { AlertsStack } from './alerts.stack.ts';
import type { RuleSettings } from './rule.settings.ts';
import { whole } from './statistics.ts';

export const WORKSPACES = 50;
export const RULES_PER_WORKSPACE = 20;
export const MATCHING_TYPE = 'tool.failed';
/** One event in this many has the type that all rules of its workspace count. */
export const ONE_IN = 10;
const EVENTS_PER_SECOND = 1_000;
const APPENDED_AT_ONCE = 5_000;
const PROGRESS_EVERY = 100_000;

export interface TenantEvent {
  tenantId: TenantId;
  event: GatewayEvent;
}

/** Ids of workspaces that exist only in the benchmark. */
function tenants(): TenantId[] {
  return Array.from({ length: WORKSPACES }, (_, index) => provenTenantId(`ws_bench${index}`));
}

/** Events number `first` to `first + count - 1`, of the workspaces in turn, with consecutive times from `start` on. */
export function* generateEvents(
  count: number,
  start: number,
  { first = 0, tenantIds = tenants() }: { first?: number; tenantIds?: readonly TenantId[] } = {},
): Generator<TenantEvent> {
  for (let index = first; index < first + count; index += 1) {
    const tenantId = tenantIds[index % tenantIds.length]!;
    const matching = Math.floor(index / tenantIds.length) % ONE_IN === 0;
    const time = new Date(start + ((index - first) * 1_000) / EVENTS_PER_SECOND).toISOString();
    const known = { run_id: `run-${index % 997}`, agent_id: `agent-${index % 40}` };
    const data = matching ? { ...known, tool: 'search' } : { ...known, tool: 'search', took_ms: index % 900 };
    const type = matching ? MATCHING_TYPE : 'tool.called';
    yield { tenantId, event: { specversion: '1.0', id: `e-${index}`, source: '/gateways/bench', type, time, data } };
  }
}

/** Creates the rules of every workspace in the database of that name. */
export async function makeRules(stack: AlertsStack, database: string, rule: RuleSettings): Promise<void> {
  const alerts = stack.createAlerts(database);
  await alerts.start();
  for (const tenantId of tenants()) {
    for (let count = 0; count < RULES_PER_WORKSPACE; count += 1) await stack.createRule(alerts, tenantId, rule);
  }
  await alerts.stop();
}

/** Creates the topic and appends the events. */
export async function fillLog(eventLog: EventLog, events: Iterable<TenantEvent>): Promise<void> {
  await eventLog.ensureTopic(GATEWAY_EVENTS_TOPIC_OPTIONS);
  let records: { key: string; value: Buffer }[] = [];
  let appended = 0;
  const append = async () => {
    await eventLog.append(GATEWAY_EVENTS_TOPIC, records);
    appended += records.length;
    if (appended % PROGRESS_EVERY === 0) console.error(`${whole(appended)} events in the log`);
    records = [];
  };
  for (const { tenantId, event } of events) {
    records.push(encodeGatewayEvent({ tenantId, event, receivedAt: event.time }));
    if (records.length === APPENDED_AT_ONCE) await append();
  }
  if (records.length > 0) await append();
}
