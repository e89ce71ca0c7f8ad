import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { Webhook } from 'standardwebhooks';
import { type ApiClient, logIn } from '../api.client.ts';
import type { Stage } from '../deployment.ts';
import { budgetBlocked, cloudEvent, guardBlocked, type CloudEvent } from '../events.ts';
import { type TestWorkspace, newWorkspace, postEvents } from '../workspace.ts';

const SIGNING_SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;
const CHANNELS = 2;
/** The channel and the rule whose alerts are grouped. */
const GROUPED = 'grouped';
const EVENTS = 120;
const BATCH = 8;
const KILLS_BEFORE_BATCH = [5, 9, 15];
/** Type of the last event. Events of a workspace keep their order, so its alert means that all are evaluated. */
const END = 'stream.end';

/** What an alert says about its events; equal in every workspace with the same rules and events. */
interface Alert {
  id: string;
  rule_name: string;
  status: string;
  event_count: number;
  first_event_at: string;
  last_event_at: string;
  sample_event_ids: string[];
}

interface Sent {
  type: string;
  channel: string;
  data: Alert & { group?: { total: number; resolved: number } };
}

export function describeAlertsThroughKills({ deployment, receiver }: Stage): void {
  describe('alerts through kill -9', () => {
    let owner: ApiClient;

    async function newWatchedWorkspace(): Promise<TestWorkspace> {
      const workspace = await newWorkspace(owner);
      const create = async (path: string, body: object) =>
        (await owner.expect<{ id: string }>({ method: 'POST', path: workspace.path(path), body, status: 201 })).id;
      const channels: string[] = [];
      for (let index = 0; index < CHANNELS; index++) {
        const config = { url: `${receiver().url}/${workspace.slug}/${index}`, signing_secret: SIGNING_SECRET };
        channels.push(await create('/alerts/channels', { channel_type: 'webhook', config }));
      }
      const config = { url: `${receiver().url}/${workspace.slug}/${GROUPED}`, signing_secret: SIGNING_SECRET };
      const groups = await create('/alerts/channels', { channel_type: 'webhook', config });
      for (const rule of [...RULES, { ...GROUPED_RULE, channel_config_ids: [groups] }]) {
        const scope = { scope_type: 'workspace', scope_id: workspace.id };
        await create('/alerts/rules', { severity: 'high', ...scope, channel_config_ids: channels, ...rule });
      }
      return workspace;
    }

    async function alertsOf(workspace: TestWorkspace): Promise<Alert[]> {
      const { items } = await owner.expect<{ items: Alert[] }>({ path: workspace.path('/alerts?limit=200') });
      return items.toSorted((a, b) => decisionOf(a).localeCompare(decisionOf(b)));
    }

    /** Messages that arrived for the workspace. Repeated attempts have the same webhook-id and count once. */
    function messagesOf(workspace: TestWorkspace): Sent[] {
      const byWebhookId = new Map<string, Sent>();
      for (const { path, headers, body } of receiver().received) {
        const [channel = '', slug] = path.split('/').toReversed();
        if (slug !== workspace.slug) continue;
        const sent = new Webhook(SIGNING_SECRET).verify(body, headers) as Omit<Sent, 'channel'>;
        byWebhookId.set(headers['webhook-id'] ?? '', { ...sent, channel });
      }
      return [...byWebhookId.values()];
    }

    const notificationsOf = (workspace: TestWorkspace): string[] =>
      messagesOf(workspace)
        .filter(({ channel }) => channel !== GROUPED)
        .map(({ type, channel, data }) => `${data.id} ${type} ${channel}`)
        .toSorted();

    /** How many alerts the messages about groups say have fired, and have been resolved. */
    function groupedOf(workspace: TestWorkspace): { fired: number; resolved: number } {
      const groups = messagesOf(workspace).filter(({ channel }) => channel === GROUPED);
      const fired = groups.filter(({ type }) => type === 'alert.fired');
      const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);
      return {
        fired: sum(fired.map(({ data }) => data.group!.total)),
        // A message about alerts that fired also says how many of them are resolved.
        resolved: sum(groups.map(({ data }) => data.group!.resolved)),
      };
    }

    /** The content of the alerts, each notified exactly once, when nothing is left to evaluate, resolve or deliver. */
    async function finalDecisions(workspace: TestWorkspace): Promise<string[]> {
      await eventually(async () => {
        const alerts = await alertsOf(workspace);
        expect(alerts.map(({ rule_name }) => rule_name)).toContain(END);
        expect(alerts.filter(({ status }) => status !== 'resolved')).toEqual([]);
        expect(await owner.expect({ path: workspace.path('/alerts/system') })).toMatchObject({ QueueSize: 0 });
      });
      const alerts = await alertsOf(workspace);
      const [grouped, single] = [true, false].map((is) =>
        alerts.filter(({ rule_name }) => (rule_name === GROUPED) === is),
      );
      await eventually(() =>
        expect(groupedOf(workspace)).toEqual({ fired: grouped!.length, resolved: grouped!.length }),
      );
      expect(grouped!.length).toBeGreaterThan(5);
      expect(notificationsOf(workspace)).toEqual(single!.flatMap(toNotifications).toSorted());
      return alerts.map(decisionOf);
    }

    /** Until they are accepted, as gateways do. Events that arrive twice count once. */
    async function post(workspace: TestWorkspace, events: CloudEvent | CloudEvent[]): Promise<void> {
      await eventually(async () => expect((await postEvents(deployment(), workspace.apiKey, events)).status).toBe(202));
    }

    beforeAll(async () => {
      owner = await logIn(deployment(), deployment().owner);
    });

    it('exactly the same alerts fire as without it; fire and end of each arrive signed on every channel, under one webhook-id', async () => {
      const [calm, killed] = [await newWatchedWorkspace(), await newWatchedWorkspace()];
      const events = stream();
      const end = cloudEvent(END, {});
      await post(calm, events);
      await post(calm, end);
      const expected = await finalDecisions(calm);
      expect(expected.length).toBeGreaterThan(10);

      for (let batch = 0; batch * BATCH < events.length; batch++) {
        const part = events.slice(batch * BATCH, (batch + 1) * BATCH);
        if (KILLS_BEFORE_BATCH.includes(batch)) {
          // The batch is in flight when the process dies, as a gateway's would be, which then sends it again.
          const cutOff = postEvents(deployment(), killed.apiKey, part).catch(() => undefined);
          await deployment().end('SIGKILL');
          await cutOff;
          await deployment().start();
        }
        await post(killed, part);
      }
      await post(killed, end);

      expect(await finalDecisions(killed)).toEqual(expected);
      expect(await finalDecisions(calm)).toEqual(expected);
    });
  });
}

const RULES = [
  countRule('Blocked three times in a second', 1, 3, ['budget.blocked'], 0),
  countRule('Blocked five times in four seconds', 4, 5, ['budget.blocked'], 10),
  countRule('Busy', 20, 30, [], 15),
  {
    name: 'Guard after quiet',
    rule_kind: 'first_occurrence',
    rule_config: { window_seconds: 3, filters: { event_types: ['guard.blocked'] } },
  },
  countRule(END, 1, 1, [END], 0),
];
const GROUPED_RULE = { ...countRule(GROUPED, 1, 2, ['budget.blocked'], 0), group_seconds: 2 };

function countRule(name: string, windowSeconds: number, threshold: number, types: string[], cooldownSeconds: number) {
  const config = { window_seconds: windowSeconds, threshold, filters: { event_types: types } };
  return { name, rule_kind: 'event_count_gte', rule_config: config, cooldown_seconds: cooldownSeconds };
}

/**
 * A minute of blocked calls in bursts, some of them late and some repeated. It ended so long ago that every window has
 * passed, and whatever fires resolves without a wait.
 */
function stream(): CloudEvent[] {
  const begin = Date.now() - 80_000;
  const events = Array.from({ length: EVENTS }, (_, index) => {
    const event = index % 5 === 4 ? guardBlocked(`run-${index}`) : budgetBlocked(`run-${index}`);
    const late = index % 17 === 16 ? 3_000 : 0;
    return { ...event, time: new Date(begin + index * 450 + ((index * index) % 7) * 150 - late).toISOString() };
  });
  return events.flatMap((event, index) => (index % 23 === 22 ? [event, events[index - 20]!] : [event]));
}

function decisionOf({ rule_name, event_count, first_event_at, last_event_at, sample_event_ids }: Alert): string {
  return JSON.stringify([rule_name, last_event_at, first_event_at, event_count, sample_event_ids]);
}

function toNotifications({ id }: Alert): string[] {
  const types = ['alert.fired', 'alert.resolved'];
  return Array.from({ length: CHANNELS }, (_, channel) => types.map((type) => `${id} ${type} ${channel}`)).flat();
}
