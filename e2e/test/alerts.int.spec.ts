import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { Webhook } from 'standardwebhooks';
import { type ApiClient, logIn } from '../src/api.client.ts';
import { budgetBlocked } from '../src/events.ts';
import {
  type StandaloneProcess,
  newDataDirectory,
  removeDataDirectory,
  startStandalone,
} from '../src/standalone.process.ts';
import { type WebhookReceiver, startWebhookReceiver } from '../src/webhook.receiver.ts';
import { type TestWorkspace, newWorkspace, postEvents } from '../src/workspace.ts';

const SIGNING_SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;

interface AlertList {
  items: { id: string; status: string; deliveries: { status: string }[] }[];
  total: number;
}

describe('alerts, from the event to the webhook', () => {
  let dataDirectory: string;
  let receiver: WebhookReceiver;
  let standalone: StandaloneProcess;
  let owner: ApiClient;
  let workspace: TestWorkspace;
  let channelId: string;

  const start = async () => {
    standalone = await startStandalone({
      dataDirectory,
      env: {
        LOG_LEVEL: 'trace',
        TOLLKEEPER_ALLOW_CIDRS: '127.0.0.0/8',
        NODE_EXTRA_CA_CERTS: receiver.certificateFile,
      },
    });
    owner = await logIn(standalone, standalone.owner);
  };
  const listAlerts = () => owner.expect<AlertList>({ path: workspace.path('/alerts') });
  const block = async (times: number) => {
    const events = Array.from({ length: times }, () => budgetBlocked('run-1'));
    expect((await postEvents(standalone, workspace.apiKey, events)).status).toBe(202);
  };

  beforeAll(async () => {
    dataDirectory = await newDataDirectory();
    receiver = await startWebhookReceiver();
    await start();
    workspace = await newWorkspace(owner);
    const channel = { channel_type: 'webhook', config: { url: receiver.url, signing_secret: SIGNING_SECRET } };
    const path = workspace.path('/alerts/channels');
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
  afterAll(async () => {
    await standalone.end('SIGTERM');
    await receiver.stop();
    await removeDataDirectory(dataDirectory);
  });

  it('a test notification reports what the destination answers', async () => {
    const path = workspace.path(`/alerts/channels/${channelId}/test`);
    const result = await owner.expect({ method: 'POST', path });
    expect(result).toEqual({ ResponseStatus: 200, ResponseSnippet: 'thanks' });
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ type: 'channel.test' });
    receiver.received.length = 0;
  });

  it('a rule fires when its threshold is reached, and one signed webhook arrives', async () => {
    await block(2);
    await block(1);
    await eventually(() => expect(receiver.received).toHaveLength(1), { timeoutMs: 30_000 });
    const { body, headers } = receiver.received[0] ?? { body: '', headers: {} };
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
    const before = standalone.logs();
    expect(await standalone.end('SIGTERM')).toBe(0);
    await start();
    receiver.received.length = 0;
    await owner.expect({ method: 'POST', path: workspace.path(`/alerts/channels/${channelId}/test`) });
    const { body, headers } = receiver.received[0] ?? { body: '', headers: {} };
    expect(() => new Webhook(SIGNING_SECRET).verify(body, headers)).not.toThrow();

    const channels = await owner.call({ path: workspace.path('/alerts/channels') });
    for (const text of [channels.text, before, standalone.logs()]) {
      expect(text).not.toContain(SIGNING_SECRET.replace('whsec_', ''));
    }
  });
});
