import { expect } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { ApiClient } from './api.client.ts';
import { budgetBlocked, type CloudEvent, cloudEvent, spendSettled } from './events.ts';
import { createReportingGateway, type ReportingGateway } from './reporting.gateway.ts';
import type { Target } from './target.ts';
import type { WebhookReceiver } from './webhook.receiver.ts';
import { newWorkspace, postEvents, type TestWorkspace } from './workspace.ts';

const SIGNING_SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;
/** Longer than any suite, so that the order and delay of events do not matter. */
const WINDOW_SECONDS = 86_400;
const THRESHOLD = 3;
/** An event of each alarm comes every few batches, so that windows are open whenever something happens. */
const ALARM_SPACING = 3;
const MARK = 'alarm.mark';
const markOf = (nth: number): string => `${MARK}.${nth}`;

/** The dashboard's counts of a workspace. */
interface Counts {
  settlements: number;
  totalMicros: number;
  blocked: number;
}

/** Notifications of fired alerts that arrived, all with a valid signature. */
interface Arrivals {
  /** Webhook ids by alert. */
  byAlert: ReadonlyMap<string, ReadonlySet<string>>;
  /** Total requests: more than alerts if attempts were repeated. */
  attempts: number;
}

/**
 * A workspace with a gateway that reports to it, and rules whose alerts follow from the accepted events alone: each
 * rule counts its own type, and fires once however its events are ordered, delayed or repeated.
 */
export interface WatchedWorkspace {
  readonly workspace: TestWorkspace;
  readonly gateway: ReportingGateway<CloudEvent>;
  /** The next events of a steady stream: settled spend, blocked calls and sometimes an alarm. */
  nextBatch(size: number): CloudEvent[];
  /** Reports events of a new agent, which fire the rule of this mark; resolves once they are accepted. */
  mark(agentId: string, nth?: number): Promise<void>;
  /** Whether the agent is counted on the dashboard and registered, and the alert of the mark has arrived. */
  sees(agentId: string, nth?: number): Promise<{ counted: boolean; registered: boolean; notified: boolean }>;
  counts(): Promise<Counts>;
  /** The dashboard's counts once all accepted events are counted. */
  expectedCounts(): Counts;
  /** Rules of the existing alerts, sorted. */
  alerts(): Promise<string[]>;
  /** Rules whose alerts the accepted events must have fired, once each; sorted. */
  expectedAlerts(): string[];
  arrivals(): Arrivals;
  /** Checks that everything expected exists exactly once, and that each alert was delivered. Throws if not (yet). */
  expectExact(): Promise<void>;
}

export interface WatchedWorkspaceOptions {
  target: Target;
  owner: ApiClient;
  receiver: WebhookReceiver;
  /** Number of rules that the stream's alarms can fire. */
  alarms: number;
  /** Number of rules that marks can fire, each once; 1 by default. */
  marks?: number;
  /** A workspace without rules; a new one by default. */
  workspace?: TestWorkspace;
}

interface Alert {
  id: string;
  rule_name: string;
  deliveries: { status: string }[];
}

export async function newWatchedWorkspace(options: WatchedWorkspaceOptions): Promise<WatchedWorkspace> {
  const { target, owner, receiver, alarms, marks = 1 } = options;
  const workspace = options.workspace ?? (await newWorkspace(owner));
  const rules = [
    ...Array.from({ length: alarms }, (_, index) => `alarm.${index}`),
    ...Array.from({ length: marks }, (_, nth) => markOf(nth)),
  ];
  const hook = `/${workspace.slug}`;
  await createRules(owner, workspace, `${receiver.url}${hook}`, rules);
  const gateway = createReportingGateway<CloudEvent>(async (batch) => {
    const { status, headers, text } = await postEvents(target, workspace.apiKey, [...batch]);
    return { status, retryAfter: headers['retry-after'], text };
  });
  let batches = 0;
  let read = 0;
  let attempts = 0;
  const byAlert = new Map<string, Set<string>>();

  /** Each alarm has as many events as the threshold, one in each of its batches. */
  function alarmsOf(batch: number): CloudEvent[] {
    const events: CloudEvent[] = [];
    for (let nth = 0; nth < THRESHOLD; nth++) {
      const alarm = batch / ALARM_SPACING - nth;
      if (Number.isInteger(alarm) && alarm >= 0 && alarm < alarms) events.push(cloudEvent(`alarm.${alarm}`, {}));
    }
    return events;
  }

  /** Notifications are verified when they are first read, because a signature is valid for minutes only. */
  function arrivals(): Arrivals {
    const unread = receiver.received.slice(read);
    for (const { path, headers, body } of unread) {
      if (!path.endsWith(hook)) continue;
      const { type, data } = new Webhook(SIGNING_SECRET).verify(body, headers) as { type: string; data: Alert };
      if (type !== 'alert.fired') throw new Error(`unexpected notification ${type} of ${data.rule_name}`);
      attempts += 1;
      byAlert.set(data.id, (byAlert.get(data.id) ?? new Set()).add(headers['webhook-id'] ?? ''));
    }
    read += unread.length;
    return { byAlert, attempts };
  }

  const listAlerts = async (): Promise<Alert[]> =>
    (await owner.expect<{ items: Alert[] }>({ path: workspace.path('/alerts?limit=200') })).items;

  async function counts(): Promise<Counts> {
    const { spend, blocked } = await owner.expect<{
      spend: { total_micros: number; unique_settlements: number };
      blocked: { budget: number };
    }>({ path: workspace.path('/dashboard/overview?range=1m') });
    return { settlements: spend.unique_settlements, totalMicros: spend.total_micros, blocked: blocked.budget };
  }

  const expectedCounts = (): Counts => countsOf(gateway.accepted);
  const expectedAlerts = (): string[] => alertsOf(gateway.accepted, rules);

  return {
    workspace,
    gateway,
    nextBatch(size) {
      const events = alarmsOf(batches++);
      events.push(budgetBlocked(`run-${batches}`));
      while (events.length < size) {
        events.push(spendSettled({ runId: `run-${batches}`, amountMicros: batches + events.length }));
      }
      return events;
    },
    mark: (agentId, nth = 0) =>
      gateway.report([spendSettled({ agentId, amountMicros: 1 }), cloudEvent(markOf(nth), {})]),
    async sees(agentId, nth = 0) {
      const { byAlert } = arrivals();
      const [ofAgent, agents, alerts] = await Promise.all([
        owner.call({ path: workspace.path(`/dashboard/top-agents/details?range=1m&agent_id=${agentId}`) }),
        owner.expect<{ items: { agent_id: string }[] }>({ path: workspace.path('/agents') }),
        // The alerts are not listed before those of all marks can have arrived, because waiting callers poll often.
        byAlert.size > nth ? listAlerts() : [],
      ]);
      const { metrics } = (ofAgent.status === 200 ? ofAgent.body : {}) as { metrics?: { unique_settlements: number } };
      const mark = alerts.find(({ rule_name }) => rule_name === markOf(nth));
      return {
        counted: metrics?.unique_settlements === 1,
        registered: agents.items.some(({ agent_id }) => agent_id === agentId),
        notified: mark !== undefined && byAlert.has(mark.id),
      };
    },
    counts,
    expectedCounts,
    alerts: async () => (await listAlerts()).map(({ rule_name }) => rule_name).toSorted(),
    expectedAlerts,
    arrivals,
    async expectExact() {
      expect(await counts()).toEqual(expectedCounts());
      const alerts = await listAlerts();
      expect(alerts.map(({ rule_name }) => rule_name).toSorted()).toEqual(expectedAlerts());
      const { byAlert } = arrivals();
      expect([...byAlert.keys()].toSorted()).toEqual(alerts.map(({ id }) => id).toSorted());
      const webhookIds = [...byAlert.values()].flatMap((ids) => [...ids]);
      expect(new Set(webhookIds).size).toBe(alerts.length);
      expect(webhookIds).toHaveLength(alerts.length);
      const undelivered = alerts.filter(({ deliveries }) => deliveries.some(({ status }) => status !== 'delivered'));
      expect(undelivered).toEqual([]);
    },
  };
}

/**
 * The rule of a mark fires at its only event. Half of the alarms' rules count to one and half to three: unlike a first
 * occurrence, which can also be an earlier event that arrives later, a count does not depend on the order.
 */
async function createRules(owner: ApiClient, workspace: TestWorkspace, url: string, rules: string[]): Promise<void> {
  const create = (path: string, body: object) =>
    owner.expect<{ id: string }>({ method: 'POST', path: workspace.path(path), body, status: 201 });
  const config = { url, signing_secret: SIGNING_SECRET };
  const channel = await create('/alerts/channels', { channel_type: 'webhook', config });
  const ofRule = (name: string, index: number) => ({
    name,
    severity: 'high',
    scope_type: 'workspace',
    scope_id: workspace.id,
    rule_kind: isMark(name) ? 'first_occurrence' : 'event_count_gte',
    rule_config: {
      window_seconds: WINDOW_SECONDS,
      ...(!isMark(name) && { threshold: thresholdOf(name, index) }),
      filters: { event_types: [name] },
    },
    channel_config_ids: [channel.id],
  });
  for (const [index, name] of rules.entries()) await create('/alerts/rules', ofRule(name, index));
}

const isMark = (rule: string): boolean => rule.startsWith(MARK);

function thresholdOf(rule: string, index: number): number {
  return isMark(rule) || index % 2 === 1 ? 1 : THRESHOLD;
}

function countsOf(events: readonly CloudEvent[]): Counts {
  const settled = events.filter(({ type }) => type === 'spend.settled');
  return {
    settlements: settled.length,
    totalMicros: settled.reduce((total, { data }) => total + Number(data['amount_micros']), 0),
    blocked: events.filter(({ type }) => type === 'budget.blocked').length,
  };
}

function alertsOf(events: readonly CloudEvent[], rules: readonly string[]): string[] {
  const byType = Map.groupBy(events, ({ type }) => type);
  const fires = (rule: string, index: number) => (byType.get(rule)?.length ?? 0) >= thresholdOf(rule, index);
  return rules.filter(fires).toSorted();
}
