import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Replica } from '@tollkeeper/fleet';
import { eventually } from '@tollkeeper/testing';
import { SERVICES } from '@tollkeeper/topology';
import { type ApiClient, logIn } from '../api.client.ts';
import { type CloudEvent, cloudEvent, spendSettled } from '../events.ts';
import type { FleetStage } from '../fleet.stage.ts';
import { type Balancer, atRate, balance, repeat } from '../load.ts';
import { EVENTS_PATH, type TestWorkspace, newWorkspace } from '../workspace.ts';

const RULES = 80;
const RULES_AT_ONCE = 8;
const EVENTS_PER_ALERT = 4;
const AMOUNT_MICROS = 7;
const READS_PER_SECOND = 15;
const BATCHES_PER_SECOND = 5;

interface FiredAlert {
  id: string;
  rule_name: string;
  deliveries: { status: string }[];
}

/**
 * Needs a fleet with the DRAIN_DELAY_MS of a Deployment: long enough for load balancers to notice that a gateway is not
 * ready.
 */
export function describeRollingRestart(stage: FleetStage): void {
  describe('a rolling restart under load', () => {
    let owner: ApiClient;
    let workspace: TestWorkspace;
    let edge: Balancer;
    let batches = 0;
    let second: Replica | undefined;

    const typeOf = (rule: number) => `load.type_${rule}`;
    const paths = () => [
      '/api/v1/auth/me',
      ...[
        '/agents',
        '/alerts/rules',
        '/alerts',
        '/dashboard/overview?range=15min',
        '/dashboard/top-agents?range=1m',
      ].map(workspace.path),
      workspace.path('/management/workspace-keys'),
      `/api/v1/workspaces/${workspace.id}/budgets/agents`,
    ];

    async function watchWorkspace(): Promise<void> {
      const create = async (path: string, body: object) =>
        (await owner.expect<{ id: string }>({ method: 'POST', path: workspace.path(path), body, status: 201 })).id;
      const config = { url: `${stage.receiver().url}/${workspace.slug}` };
      const channel = await create('/alerts/channels', { channel_type: 'webhook', config });
      await repeat(RULES, RULES_AT_ONCE, async (rule) => {
        await create('/alerts/rules', {
          name: typeOf(rule),
          severity: 'low',
          scope_type: 'workspace',
          scope_id: workspace.id,
          rule_kind: 'event_count_gte',
          rule_config: { window_seconds: 3600, threshold: EVENTS_PER_ALERT, filters: { event_types: [typeOf(rule)] } },
          channel_config_ids: [channel],
        });
      });
    }

    /** One settled call, and one event of the next type: every few batches, the next rule fires. */
    function nextBatch(): CloudEvent[] {
      const rule = Math.floor(batches / EVENTS_PER_ALERT) % RULES;
      batches += 1;
      return [
        spendSettled({ amountMicros: AMOUNT_MICROS }),
        cloudEvent(typeOf(rule), { run_id: 'run-1', agent_id: 'agent-a' }),
      ];
    }

    /** As an agent gateway does, sends what was not accepted again until it is. */
    async function post(): Promise<void> {
      const body = JSON.stringify(nextBatch());
      const headers = {
        'content-type': 'application/cloudevents-batch+json',
        authorization: `Bearer ${workspace.apiKey}`,
      };
      for (;;) {
        const answer = await edge.call({ method: 'POST', path: EVENTS_PATH, body, headers });
        if (answer?.status === 202) return;
        await delay(Number(answer?.headers['retry-after'] ?? 1) * 1000);
      }
    }

    beforeAll(async () => {
      const deployment = stage.deployment();
      second = await deployment.fleet.addReplica('gateway');
      owner = await logIn(deployment, deployment.owner);
      workspace = await newWorkspace(owner);
      await watchWorkspace();
      edge = balance(deployment, owner.cookie, deployment.fleet.services.gateway);
    });
    afterAll(() => second?.stop());

    it('fails no request but with a 503 that says when to come back, and loses, doubles and delays nothing', async () => {
      const { fleet } = stage.deployment();
      let turn = 0;
      const reads = atRate(READS_PER_SECOND, () => edge.call({ path: paths()[turn++ % paths().length] ?? '' }));
      const posts = atRate(BATCHES_PER_SECOND, post);
      for (const service of SERVICES) {
        for (const replica of fleet.services[service]) await restartAmong(replica);
      }
      await Promise.all([reads.stop(), posts.stop()]);
      await edge.stop();

      const failed = edge.outcomes.filter(
        ({ status, retryAfter }) => ![200, 202].includes(Number(status)) && !(status === 503 && Number(retryAfter) > 0),
      );
      expect(failed).toEqual([]);
      await expectAllCountedOnce();
      await expectEachAlertOnce();
    });

    /** Restarts it, and lets later traffic pass through it. */
    async function restartAmong(replica: Replica): Promise<void> {
      await replica.restart();
      const before = batches;
      await eventually(() => expect(batches).toBeGreaterThan(before + BATCHES_PER_SECOND));
    }

    async function expectAllCountedOnce(): Promise<void> {
      await eventually(async () => {
        const path = workspace.path('/dashboard/spend?range=1m');
        const { metrics } = await owner.expect<{ metrics: object }>({ path });
        expect(metrics).toMatchObject({ unique_settlements: batches, total_micros: batches * AMOUNT_MICROS });
      });
    }

    async function expectEachAlertOnce(): Promise<void> {
      const fired = Math.min(RULES, Math.floor(batches / EVENTS_PER_ALERT));
      const expected = Array.from({ length: fired }, (_, rule) => typeOf(rule));
      const alerts = await eventually(async () => {
        const path = workspace.path('/alerts?limit=200');
        const { items } = await owner.expect<{ items: FiredAlert[] }>({ path });
        expect(items.map(({ rule_name }) => rule_name).toSorted()).toEqual(expected.toSorted());
        expect(items.flatMap(({ deliveries }) => deliveries.map(({ status }) => status))).toEqual(
          items.map(() => 'delivered'),
        );
        return items;
      });

      const webhookIds = new Map<string, Set<string>>();
      for (const { path, body, headers } of stage.receiver().received) {
        if (!path.endsWith(workspace.slug)) continue;
        const { data } = JSON.parse(body) as { data: { id: string } };
        webhookIds.set(data.id, (webhookIds.get(data.id) ?? new Set()).add(headers['webhook-id'] ?? ''));
      }
      expect([...webhookIds.keys()].toSorted()).toEqual(alerts.map(({ id }) => id).toSorted());
      expect([...webhookIds.values()].filter((ids) => ids.size !== 1)).toEqual([]);
    }
  });
}
