import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { Webhook } from 'standardwebhooks';
import { type ApiClient, logIn } from '../api.client.ts';
import type { Stage } from '../deployment.ts';
import { budgetBlocked, guardBlocked, type CloudEvent } from '../events.ts';
import { type TestWorkspace, newWorkspace, postEvents } from '../workspace.ts';

const SIGNING_SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;
const CHANNELS = 2;
const EVENTS = 120;
const BATCH = 8;
const KILLS_BEFORE_BATCH = [5, 9, 15];
const ARRIVED = { timeoutMs: 120_000 };

/** What an alert says about the events behind it; the same in every workspace with the same rules and events. */
interface Alert {
  id: string;
  rule_name: string;
  event_count: number;
  first_event_at: string;
  last_event_at: string;
  sample_event_ids: string[];
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
      for (const rule of RULES) {
        const scope = { scope_type: 'workspace', scope_id: workspace.id };
        await create('/alerts/rules', { severity: 'high', ...scope, channel_config_ids: channels, ...rule });
      }
      return workspace;
    }

    async function alertsOf(workspace: TestWorkspace): Promise<Alert[]> {
      const { items } = await owner.expect<{ items: Alert[] }>({ path: workspace.path('/alerts?limit=200') });
      return items.toSorted((a, b) => decisionOf(a).localeCompare(decisionOf(b)));
    }

    /** Fired notifications that arrived for the workspace: webhook ids by alert and channel. */
    function arrivals(workspace: TestWorkspace): Map<string, Set<string>> {
      const ids = new Map<string, Set<string>>();
      for (const { path, headers, body } of receiver().received) {
        if (!path.includes(`/${workspace.slug}/`)) continue;
        const { type, data } = new Webhook(SIGNING_SECRET).verify(body, headers) as { type: string; data: Alert };
        if (type !== 'alert.fired') continue;
        const key = `${data.id} ${path}`;
        ids.set(key, (ids.get(key) ?? new Set()).add(headers['webhook-id'] ?? ''));
      }
      return ids;
    }

    beforeAll(async () => {
      owner = await logIn(deployment(), deployment().owner);
    });

    it('the same alerts fire as without it, and each arrives signed on every channel under one webhook-id', async () => {
      const [calm, killed] = [await newWatchedWorkspace(), await newWatchedWorkspace()];
      const events = stream();
      expect((await postEvents(deployment(), calm.apiKey, events)).status).toBe(202);

      for (let batch = 0; batch * BATCH < events.length; batch++) {
        const part = events.slice(batch * BATCH, (batch + 1) * BATCH);
        if (KILLS_BEFORE_BATCH.includes(batch)) {
          // The batch is on its way when the process dies, as a gateway's would be that then sends it again.
          const cutOff = postEvents(deployment(), killed.apiKey, part).catch(() => undefined);
          await deployment().end('SIGKILL');
          await cutOff;
          await deployment().start();
        }
        expect((await postEvents(deployment(), killed.apiKey, part)).status).toBe(202);
      }

      const expected = await eventually(async () => {
        const alerts = await alertsOf(calm);
        expect((await alertsOf(killed)).map(decisionOf)).toEqual(alerts.map(decisionOf));
        expect(alerts.length).toBeGreaterThan(10);
        return alerts;
      }, ARRIVED);
      for (const workspace of [calm, killed]) {
        const webhookIds = await eventually(() => {
          const arrived = arrivals(workspace);
          expect(arrived.size).toBe(expected.length * CHANNELS);
          return [...arrived.values()];
        }, ARRIVED);
        expect(webhookIds.every((ids) => ids.size === 1)).toBe(true);
        expect(new Set(webhookIds.flatMap((ids) => [...ids])).size).toBe(expected.length * CHANNELS);
      }
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
];

function countRule(name: string, windowSeconds: number, threshold: number, types: string[], cooldownSeconds: number) {
  const config = { window_seconds: windowSeconds, threshold, filters: { event_types: types } };
  return { name, rule_kind: 'event_count_gte', rule_config: config, cooldown_seconds: cooldownSeconds };
}

/** A minute of blocked calls that come in bursts, some of them late and some twice. */
function stream(): CloudEvent[] {
  const begin = Date.now() - 60_000;
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
