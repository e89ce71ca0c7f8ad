import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { Webhook } from 'standardwebhooks';
import { type ApiClient, logIn } from '../api.client.ts';
import type { Stage } from '../deployment.ts';
import { budgetBlocked } from '../events.ts';
import type { ReceivedWebhook } from '../webhook.receiver.ts';
import { type TestWorkspace, newWorkspace, postEvents } from '../workspace.ts';

const SIGNING_SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;

interface AlertList {
  items: { id: string; status: string; deliveries: { status: string }[] }[];
  total: number;
}

export function describeAlerts({ deployment, receiver }: Stage): void {
  describe('alerts, from the event to the webhook', () => {
    let owner: ApiClient;
    let workspace: TestWorkspace;
    let channelId: string;

    const listAlerts = () => owner.expect<AlertList>({ path: workspace.path('/alerts') });
    const block = async (times: number) => {
      const events = Array.from({ length: times }, () => budgetBlocked('run-1'));
      expect((await postEvents(deployment(), workspace.apiKey, events)).status).toBe(202);
    };
    /** What has arrived for this workspace, and is not looked at again. */
    const takeReceived = (): ReceivedWebhook[] => {
      const { received } = receiver();
      const mine = received.filter(({ path }) => path.endsWith(workspace.slug));
      received.splice(0, received.length, ...received.filter((webhook) => !mine.includes(webhook)));
      return mine;
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
      const rule = {
        name: 'Blocked often',
        severity: 'high',
        scope_type: 'workspace',
        scope_id: workspace.id,
        rule_kind: 'event_count_gte',
        rule_config: { window_seconds: 600, threshold: 3, filters: { event_types: ['budget.blocked'] } },
        channel_config_ids: [channelId],
      };
      await owner.expect({ method: 'POST', path: workspace.path('/alerts/rules'), body: rule, status: 201 });
    });

    it('a test notification reports what the destination answers', async () => {
      expect(await testChannel()).toEqual({ ResponseStatus: 200, ResponseSnippet: 'thanks' });
      const [{ body = '' } = {}] = takeReceived();
      expect(JSON.parse(body)).toMatchObject({ type: 'channel.test' });
    });

    it('a rule fires when its threshold is reached, and one signed webhook arrives', async () => {
      await block(2);
      await block(1);
      const arrived: ReceivedWebhook[] = [];
      await eventually(
        () => {
          arrived.push(...takeReceived());
          expect(arrived).toHaveLength(1);
        },
        { timeoutMs: 30_000 },
      );
      const { body, headers } = arrived[0] ?? { body: '', headers: {} };
      expect(new Webhook(SIGNING_SECRET).verify(body, headers)).toMatchObject({
        type: 'alert.fired',
        data: { tenant_id: workspace.id, rule_name: 'Blocked often', severity: 'high', event_count: 3 },
      });
      await eventually(async () => {
        const { items, total } = await listAlerts();
        expect(total).toBe(1);
        expect(items[0]).toMatchObject({ status: 'firing', deliveries: [{ status: 'delivered' }] });
      });
    });

    it('an alert is acknowledged and resolved', async () => {
      const { items } = await listAlerts();
      const path = workspace.path(`/alerts/${items[0]?.id}`);
      expect(await owner.expect({ method: 'POST', path: `${path}:acknowledge` })).toMatchObject({
        status: 'acknowledged',
      });
      expect(await owner.expect({ method: 'POST', path: `${path}:resolve` })).toMatchObject({ status: 'resolved' });
    });

    it('channels keep their secrets over a restart, and show them to nobody', async () => {
      const exitCodes = await deployment().end('SIGTERM');
      expect(exitCodes.filter((code) => code !== 0)).toEqual([]);
      await deployment().start();
      takeReceived();
      await testChannel();
      const { body, headers } = takeReceived()[0] ?? { body: '', headers: {} };
      expect(() => new Webhook(SIGNING_SECRET).verify(body, headers)).not.toThrow();

      const channels = await owner.call({ path: workspace.path('/alerts/channels') });
      for (const text of [channels.text, deployment().logs()]) {
        expect(text).not.toContain(SIGNING_SECRET.replace('whsec_', ''));
      }
    });
  });
}
