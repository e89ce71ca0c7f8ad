import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { Webhook } from 'standardwebhooks';
import { type ApiClient, logIn } from '../api.client.ts';
import type { Stage } from '../deployment.ts';
import { budgetBlocked, cloudEvent, type CloudEvent, guardBlocked } from '../events.ts';
import { type TestWorkspace, newWorkspace, postEvents } from '../workspace.ts';

const SIGNING_SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;
const WINDOW_SECONDS = 3;

interface Alert {
  id: string;
  rule_name: string;
  status: string;
  resolved_at: string | null;
}

export function describeAlerts({ deployment, receiver }: Stage): void {
  describe('alerts, from the event to the webhook', () => {
    let owner: ApiClient;
    let workspace: TestWorkspace;
    let channelId: string;

    const createRule = (rule: object) => {
      const scope = { scope_type: 'workspace', scope_id: workspace.id };
      const body = { severity: 'high', ...scope, channel_config_ids: [channelId], ...rule };
      return owner.expect({ method: 'POST', path: workspace.path('/alerts/rules'), body, status: 201 });
    };
    const listAlerts = () => owner.expect<{ items: Alert[]; total: number }>({ path: workspace.path('/alerts') });
    const post = async (...events: CloudEvent[]) =>
      expect((await postEvents(deployment(), workspace.apiKey, events)).status).toBe(202);
    /** All notifications since the last call, verified and in this order, once nothing is left to deliver. */
    const takeNotifications = async (): Promise<unknown[]> => {
      await eventually(async () => {
        expect(await owner.expect({ path: workspace.path('/alerts/system') })).toMatchObject({ QueueSize: 0 });
      });
      const { received } = receiver();
      const mine = received.filter(({ path }) => path.endsWith(workspace.slug));
      received.splice(0, received.length, ...received.filter((webhook) => !mine.includes(webhook)));
      return mine.map(({ body, headers }) => new Webhook(SIGNING_SECRET).verify(body, headers));
    };
    const testChannel = () =>
      owner.expect({ method: 'POST', path: workspace.path(`/alerts/channels/${channelId}/test`) });

    beforeAll(async () => {
      owner = await logIn(deployment(), deployment().owner);
      workspace = await newWorkspace(owner);
      const config = { url: `${receiver().url}/${workspace.slug}`, signing_secret: SIGNING_SECRET };
      const path = workspace.path('/alerts/channels');
      const channel = { channel_type: 'webhook', config };
      channelId = (await owner.expect<{ id: string }>({ method: 'POST', path, body: channel, status: 201 })).id;
      await createRule({
        name: 'Blocked often',
        rule_kind: 'event_count_gte',
        rule_config: { window_seconds: 600, threshold: 3, filters: { event_types: ['budget.blocked'] } },
      });
    });

    it('a test notification reports what the destination answers', async () => {
      expect(await testChannel()).toEqual({ ResponseStatus: 200, ResponseSnippet: 'thanks' });
      expect(await takeNotifications()).toMatchObject([{ type: 'channel.test' }]);
    });

    it('a rule fires when its threshold is reached, and exactly one signed webhook arrives', async () => {
      await post(budgetBlocked('run-1'), budgetBlocked('run-1'));
      await post(budgetBlocked('run-1'));
      await eventually(async () => {
        const { items, total } = await listAlerts();
        expect(total).toBe(1);
        expect(items[0]).toMatchObject({ status: 'firing', deliveries: [{ status: 'delivered' }] });
      });
      const data = { tenant_id: workspace.id, rule_name: 'Blocked often', severity: 'high', event_count: 3 };
      expect(await takeNotifications()).toMatchObject([{ type: 'alert.fired', data }]);
    });

    it('an alert is acknowledged and resolved, and exactly one signed webhook reports the resolution', async () => {
      const { items } = await listAlerts();
      const path = workspace.path(`/alerts/${items[0]?.id}`);
      expect(await owner.expect({ method: 'POST', path: `${path}:acknowledge` })).toMatchObject({
        status: 'acknowledged',
      });
      expect(await owner.expect({ method: 'POST', path: `${path}:resolve` })).toMatchObject({ status: 'resolved' });
      const data = { id: items[0]?.id, status: 'resolved' };
      expect(await takeNotifications()).toMatchObject([{ type: 'alert.resolved', data }]);
    });

    it('an alert resolves by the clock after its window: one signed webhook reports the fire, then one the resolution', async () => {
      const filters = { event_types: ['guard.blocked'] };
      const rule_config = { window_seconds: WINDOW_SECONDS, threshold: 1, filters };
      await createRule({ name: 'Guarded', rule_kind: 'event_count_gte', rule_config });
      const event = guardBlocked('run-1');
      await post(event);
      const { id, resolved_at } = await eventually(async () => {
        const alert = (await listAlerts()).items.find(({ rule_name }) => rule_name === 'Guarded');
        expect(alert).toMatchObject({ status: 'resolved' });
        return alert!;
      });
      expect(Date.parse(resolved_at!) - Date.parse(event.time)).toBeGreaterThanOrEqual(WINDOW_SECONDS * 1000);
      expect(await takeNotifications()).toMatchObject([
        { type: 'alert.fired', data: { id, status: 'firing', resolved_at: null } },
        { type: 'alert.resolved', data: { id, status: 'resolved', resolved_at } },
      ]);
      expect((await listAlerts()).total).toBe(2);
    });

    it('an alert that fires during a silence names who silenced it; after kill -9 and the end of the silence, one signed webhook arrives', async () => {
      const filters = { event_types: ['tool.silenced'] };
      const rule_config = { window_seconds: 3600, threshold: 1, filters };
      await createRule({ name: 'Silenced', rule_kind: 'event_count_gte', rule_config });
      const matchers = [{ field: 'rule_name', op: '=', value: 'Silenced' }];
      const ends_at = new Date(Date.now() + 3_600_000).toISOString();
      const path = workspace.path('/alerts/silences');
      const body = { matchers, ends_at, reason: 'Load test' };
      const { id } = await owner.expect<{ id: string }>({ method: 'POST', path, body, status: 201 });
      await post(cloudEvent('tool.silenced', {}));
      const held = { kind: 'silence', id, reason: 'Load test' };
      await eventually(async () => {
        const alert = (await listAlerts()).items.find(({ rule_name }) => rule_name === 'Silenced');
        expect(alert).toMatchObject({ silenced_by: held, deliveries: [{ status: 'held', held }] });
      });
      // Everything that is not held back is delivered.
      expect(await takeNotifications()).toEqual([]);
      await deployment().end('SIGKILL');
      await deployment().start();
      await owner.expect({ method: 'POST', path: `${path}/${id}:end` });
      await eventually(async () => {
        const alert = (await listAlerts()).items.find(({ rule_name }) => rule_name === 'Silenced');
        expect(alert).toMatchObject({ deliveries: [{ status: 'delivered', held }] });
      });
      const data = { rule_name: 'Silenced', status: 'firing' };
      expect(await takeNotifications()).toMatchObject([{ type: 'alert.fired', data }]);
    });

    it('channels keep their secrets over a restart, and show them to nobody', async () => {
      const exitCodes = await deployment().end('SIGTERM');
      expect(exitCodes.filter((code) => code !== 0)).toEqual([]);
      await deployment().start();
      await testChannel();
      expect(await takeNotifications()).toMatchObject([{ type: 'channel.test' }]);

      const channels = await owner.call({ path: workspace.path('/alerts/channels') });
      for (const text of [channels.text, deployment().logs()]) {
        expect(text).not.toContain(SIGNING_SECRET.replace('whsec_', ''));
      }
    });

    it('a channel that is deleted leaves the rules that named it', async () => {
      const rules = async () =>
        owner.expect<{ items: { channel_config_ids: string[] }[] }>({ path: workspace.path('/alerts/rules') });
      const named = async () => (await rules()).items.flatMap(({ channel_config_ids }) => channel_config_ids);
      expect(new Set(await named())).toEqual(new Set([channelId]));
      await owner.expect({ method: 'DELETE', path: workspace.path(`/alerts/channels/${channelId}`), status: 204 });
      await eventually(async () => expect(await named()).toEqual([]));
    });
  });
}
