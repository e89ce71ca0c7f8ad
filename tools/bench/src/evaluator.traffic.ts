import {
  encodeGatewayEvent,
  GATEWAY_EVENTS_TOPIC,
  GATEWAY_EVENTS_TOPIC_OPTIONS,
  type GatewayEvent,
} from '@tollkeeper/contracts';
import type { EventLog } from '@tollkeeper/event-log';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import type { AlertsStack } from './alerts.stack.ts';
import { type RuleSettings, toRuleBody } from './rule.settings.ts';
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

interface GeneratedEvents {
  first?: number;
  tenantIds?: readonly TenantId[];
  /** The event with this number, if it is of the type that the rules count. */
  matching?: (index: number) => { type: string; data: object };
}

const TOOL = { tool: 'search' };
const toolFailed = () => ({ type: MATCHING_TYPE, data: TOOL });

/** Events number `first` to `first + count - 1`, of the workspaces in turn, with consecutive times from `start` on. */
export function* generateEvents(
  count: number,
  start: number,
  { first = 0, tenantIds = tenants(), matching = toolFailed }: GeneratedEvents = {},
): Generator<TenantEvent> {
  for (let index = first; index < first + count; index += 1) {
    const tenantId = tenantIds[index % tenantIds.length]!;
    const matches = Math.floor(index / tenantIds.length) % ONE_IN === 0;
    const time = new Date(start + ((index - first) * 1_000) / EVENTS_PER_SECOND).toISOString();
    const known = { run_id: `run-${index % 997}`, agent_id: `agent-${index % 40}` };
    const { type, data } = matches ? matching(index) : { type: 'tool.called', data: { took_ms: index % 900, ...TOOL } };
    const about = { specversion: '1.0', id: `e-${index}`, source: '/gateways/bench', type, time } as const;
    yield { tenantId, event: { ...about, data: { ...known, ...data } } };
  }
}

/** The bodies of the rules of a workspace. */
export type RulesOf = (tenantId: TenantId) => readonly object[];

/** {@link RULES_PER_WORKSPACE} times the same rule. */
export function sameRules(rule: RuleSettings): RulesOf {
  return (tenantId) => Array.from({ length: RULES_PER_WORKSPACE }, () => toRuleBody(tenantId, rule));
}

/** Creates the rules of every workspace in the database of that name. */
export async function makeRules(stack: AlertsStack, database: string, rulesOf: RulesOf): Promise<void> {
  const alerts = stack.createAlerts(database);
  await alerts.start();
  for (const tenantId of tenants()) {
    for (const body of rulesOf(tenantId)) await stack.createRule(alerts, tenantId, body);
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
