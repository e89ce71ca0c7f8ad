import { describe, expect, it } from '@jest/globals';
import { encodeDelivery } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { type AlertBody, type Body, event, newTenant, useAlerts } from './alerts.stack.ts';

const mongo = useMongo();
const stack = useAlerts(mongo);
const { call, createChannel, createRule, expecting, clock } = stack;

const HOUR = 3_600_000;

/** A rule that fires with every event of its type and stays met for an hour. */
const everyEvent: Body = {
  rule_config: { window_seconds: 3600, threshold: 1, filters: { event_types: ['budget.blocked'] } },
};

async function fire(tenantId: TenantId, time = clock.now): Promise<AlertBody> {
  const fired = event(time);
  await stack.append(tenantId, fired);
  return eventually(async () => {
    const alert = (await stack.alerts(tenantId)).find(({ sample_event_ids: ids }) =>
      (ids as string[]).includes(fired.id),
    );
    if (alert === undefined) throw new Error('the rule did not fire');
    return alert;
  });
}

/** Creates alerts of one rule, a window apart, oldest first. */
async function history(tenantId: TenantId, count: number): Promise<AlertBody[]> {
  const alerts: AlertBody[] = [];
  for (let index = 0; index < count; index += 1) {
    clock.now += HOUR;
    alerts.push(await fire(tenantId));
  }
  return alerts;
}

const notified = (tenantId: TenantId) => stack.notified.filter((notification) => notification.tenantId === tenantId);

describe('alert history', () => {
  it('is answered newest first, in pages, with the total of all pages', async () => {
    const tenantId = newTenant();
    await createRule(tenantId, everyEvent);
    const ids = (await history(tenantId, 3)).map(({ id }) => id).toReversed();

    const page = async (query: string) => {
      const { items, ...rest } = await expecting(200, 'get', tenantId, query);
      return { ids: (items as AlertBody[]).map(({ id }) => id), ...rest };
    };
    expect(await page('')).toEqual({ ids, total: 3, limit: 50, offset: 0 });
    expect(await page('?limit=2')).toEqual({ ids: ids.slice(0, 2), total: 3, limit: 2, offset: 0 });
    expect(await page('?limit=2&offset=2')).toEqual({ ids: ids.slice(2), total: 3, limit: 2, offset: 2 });
    expect(await page('?limit=200&offset=10000')).toEqual({ ids: [], total: 3, limit: 200, offset: 10_000 });
  });

  it('is narrowed by rule, severity, status and time, from included and to not', async () => {
    const tenantId = newTenant();
    const rule = await createRule(tenantId, everyEvent);
    const [first, second] = (await history(tenantId, 2)) as [AlertBody, AlertBody];
    await expecting(200, 'post', tenantId, `/${second.id}:acknowledge`);
    const found = async (query: string) =>
      ((await expecting(200, 'get', tenantId, `?${query}`)).items as AlertBody[]).map(({ id }) => id);
    const at = encodeURIComponent(String(second['triggered_at']));

    expect(await found(`rule_id=${rule.id}`)).toEqual([second.id, first.id]);
    expect(await found('rule_id=rule_other')).toEqual([]);
    expect(await found('severity=high')).toHaveLength(2);
    expect(await found('severity=low')).toEqual([]);
    expect(await found('status=acknowledged')).toEqual([second.id]);
    expect(await found(`from=${at}`)).toEqual([second.id]);
    expect(await found(`to=${at}`)).toEqual([first.id]);
    expect(await found(`from=${at}&to=${at}`)).toEqual([]);
  });

  it.each([
    'limit=0',
    'limit=201',
    'limit=x',
    'limit=',
    'offset=-1',
    'offset=10001',
    'severity=fatal',
    'status=open',
    'from=yesterday',
    'to=2026-11-21',
    'rule_id=%24ne',
    'limit=1&limit=2',
  ])('refuses ?%s', async (query) => {
    const response = await call('get', newTenant(), `?${query}`);
    expect(response.status).toBe(400);
    expect((response.body as { details: Body[] }).details[0]!['path']).toBe(query.split('=')[0]);
  });

  it('is not touched by later edits or the deletion of the rule', async () => {
    const tenantId = newTenant();
    const rule = await createRule(tenantId, everyEvent);
    const alert = await fire(tenantId);
    const edit = { name: 'Renamed', severity: 'low', rule_config: { threshold: 9, filters: { event_types: ['x'] } } };
    await expecting(200, 'patch', tenantId, `/rules/${rule.id}`, { body: edit });
    expect(await stack.alerts(tenantId)).toEqual([alert]);
    await expecting(204, 'delete', tenantId, `/rules/${rule.id}`);
    expect(await stack.alerts(tenantId)).toEqual([alert]);
    expect(await expecting(200, 'get', tenantId, `/${alert.id}`)).toEqual(alert);
  });
});

describe('an alert', () => {
  it('is acknowledged once, by the first user', async () => {
    const tenantId = newTenant();
    await createRule(tenantId, everyEvent);
    const alert = await fire(tenantId);
    const acknowledge = (userId: string) => expecting(200, 'post', tenantId, `/${alert.id}:acknowledge`, { userId });

    const acknowledged = await acknowledge('user_7');

    const at = new Date(clock.now).toISOString();
    expect(acknowledged).toEqual({ ...alert, status: 'acknowledged', acknowledged_at: at, acknowledged_by: 'user_7' });
    clock.now += 1000;
    expect(await acknowledge('user_8')).toEqual(acknowledged);
  });

  it('is reported as acknowledged to the incident tools among its channels, once, and to no others', async () => {
    const tenantId = newTenant();
    const idOf = async (type: string) => (await createChannel(tenantId, { type })).id;
    const others = [await idOf('webhook'), await idOf('chat'), await idOf('teams')];
    const tools = [await idOf('pagerduty'), await idOf('opsgenie')];
    await createRule(tenantId, { ...everyEvent, channel_config_ids: [...others, ...tools] });
    const { id } = await fire(tenantId);

    for (let again = 0; again < 2; again += 1) await expecting(200, 'post', tenantId, `/${id}:acknowledge`);
    await expecting(200, 'post', tenantId, `/${id}:resolve`);

    const acknowledged = {
      type: 'alert.acknowledged',
      alert: { id, status: 'acknowledged', acknowledged_by: 'user_1' },
    };
    await eventually(() => {
      const sent = notified(tenantId);
      expect(sent).toHaveLength(5 + 2 + 5);
      const reports = sent.filter(({ type }) => type === 'alert.acknowledged');
      expect(reports).toMatchObject(tools.map(() => acknowledged));
      expect(reports.map(({ channelId }) => channelId).toSorted()).toEqual(tools.toSorted());
      for (const channelId of tools) {
        const types = sent.filter((each) => each.channelId === channelId).map(({ type }) => type);
        expect(types).toEqual(['alert.fired', 'alert.acknowledged', 'alert.resolved']);
      }
    });
  });

  it('is resolved once, from firing or acknowledged, and its channels are notified', async () => {
    const tenantId = newTenant();
    const { id: channelId } = await createChannel(tenantId);
    await createRule(tenantId, { ...everyEvent, channel_config_ids: [channelId] });
    for (const acknowledged of [false, true]) {
      clock.now += HOUR;
      const { id } = await fire(tenantId);
      if (acknowledged) await expecting(200, 'post', tenantId, `/${id}:acknowledge`);

      const resolved = await expecting(200, 'post', tenantId, `/${id}:resolve`);

      expect(resolved).toMatchObject({ status: 'resolved', resolved_at: new Date(clock.now).toISOString() });
      clock.now += 1000;
      const again = await expecting(200, 'post', tenantId, `/${id}:resolve`);
      expect(again['resolved_at']).toBe(resolved['resolved_at']);
      await expecting(409, 'post', tenantId, `/${id}:acknowledge`);
      await eventually(() => {
        const sent = notified(tenantId).filter(({ alert }) => alert.id === id);
        expect(sent.map(({ type, alert }) => [type, alert.status])).toEqual([
          ['alert.fired', 'firing'],
          ['alert.resolved', 'resolved'],
        ]);
        expect(new Set(sent.map(({ notificationId }) => notificationId)).size).toBe(2);
      });
      expect((again['deliveries'] as Body[]).map(({ type }) => type)).toEqual(['alert.fired', 'alert.resolved']);
    }
  });

  it('resolves automatically when the last window, by the clock, no longer meets the condition', async () => {
    const tenantId = newTenant();
    const { id: channelId } = await createChannel(tenantId);
    await createRule(tenantId, { ...everyEvent, channel_config_ids: [channelId] });
    const start = clock.now;
    const alert = await fire(tenantId);

    // Another event half a window later: the condition stays met for half a window longer.
    clock.now = start + HOUR / 2;
    await stack.append(tenantId, event(clock.now));
    clock.now = start + HOUR + 60_000;
    await stack.append(tenantId, event(clock.now, 'tool.called'));
    await stack.settled();
    expect(await expecting(200, 'get', tenantId, `/${alert.id}`)).toMatchObject({ status: 'firing' });

    clock.now = start + 1.5 * HOUR - 1;
    await stack.append(tenantId, event(clock.now, 'tool.called'));
    await stack.settled();
    expect(await expecting(200, 'get', tenantId, `/${alert.id}`)).toMatchObject({ status: 'firing' });

    clock.now += 1;
    await eventually(async () => {
      expect(await expecting(200, 'get', tenantId, `/${alert.id}`)).toMatchObject({
        status: 'resolved',
        resolved_at: new Date(clock.now).toISOString(),
      });
    });
    await eventually(() => {
      expect(notified(tenantId).map(({ type }) => type)).toEqual(['alert.fired', 'alert.resolved']);
    });
  });

  it('resolves automatically after a restart, and after its rule is gone', async () => {
    const tenantId = newTenant();
    const rule = await createRule(tenantId, everyEvent);
    const alert = await fire(tenantId);
    await expecting(204, 'delete', tenantId, `/rules/${rule.id}`);
    await stack.restart();
    expect(await expecting(200, 'get', tenantId, `/${alert.id}`)).toEqual(alert);
    clock.now += HOUR;
    await eventually(async () => {
      expect(await expecting(200, 'get', tenantId, `/${alert.id}`)).toMatchObject({ status: 'resolved' });
    });
  });

  it('of another workspace does not exist', async () => {
    const owner = newTenant();
    await createRule(owner, everyEvent);
    const { id } = await fire(owner);
    const tenantId = newTenant();
    await expecting(404, 'get', tenantId, `/${id}`);
    await expecting(404, 'post', tenantId, `/${id}:acknowledge`);
    await expecting(404, 'post', tenantId, `/${id}:resolve`);
    expect(await stack.alerts(tenantId)).toEqual([]);
  });

  it('is for admins', async () => {
    const tenantId = newTenant();
    await expecting(403, 'get', tenantId, '', { role: 'member' });
    await expecting(403, 'get', tenantId, '/system', { role: 'member' });
    await expecting(403, 'post', tenantId, '/alrt_1:resolve', { role: 'member' });
    await expecting(401, 'get', tenantId, '', { token: null });
  });
});

describe('the deliveries of an alert', () => {
  async function fired() {
    const tenantId = newTenant();
    const { id: channelId } = await createChannel(tenantId);
    await createRule(tenantId, { ...everyEvent, channel_config_ids: [channelId] });
    const alert = await fire(tenantId);
    const [notification] = await eventually(() => {
      const sent = notified(tenantId);
      expect(sent).toHaveLength(1);
      return sent;
    });
    const report = {
      notificationId: notification!.notificationId,
      type: 'alert.fired',
      tenantId,
      alertId: alert.id,
      channelId,
      channelType: 'webhook',
      responseStatus: 500,
      responseSnippet: 'oops',
      error: 'The destination answered 500.',
      lastAttemptAt: new Date(clock.now).toISOString(),
      nextAttemptAt: '2026-11-21T18:00:06.000Z',
    } as const;
    const delivery = async () => ((await expecting(200, 'get', tenantId, `/${alert.id}`)).deliveries as Body[])[0]!;
    const queueSize = async () => (await expecting(200, 'get', tenantId, '/system'))['QueueSize'];
    return { tenantId, channelId, report, delivery, queueSize };
  }

  it('show the last report of the notifier, whatever the order of reports, and leave the queue with it', async () => {
    const { report, delivery, queueSize } = await fired();
    expect(await queueSize()).toBe(1);
    const delivered = { ...report, responseStatus: 204, responseSnippet: '', error: null, nextAttemptAt: null };

    await stack.report({ ...report, status: 'retrying', attempts: 1, sequence: 1 });
    await eventually(async () => {
      expect(await delivery()).toEqual({
        type: 'alert.fired',
        channel_id: report.channelId,
        channel_type: 'webhook',
        status: 'retrying',
        attempts: 1,
        response_status: 500,
        response_snippet: 'oops',
        error: 'The destination answered 500.',
        last_attempt_at: report.lastAttemptAt,
        next_attempt_at: report.nextAttemptAt,
      });
    });
    expect(await queueSize()).toBe(1);
    await stack.report({ ...delivered, status: 'delivered', attempts: 2, sequence: 3 });
    await stack.report({ ...report, status: 'retrying', attempts: 1, sequence: 2 });
    await eventually(async () => {
      expect(await delivery()).toMatchObject({ status: 'delivered', attempts: 2, response_status: 204, error: null });
      expect(await queueSize()).toBe(0);
    });
  });

  it('show the newest attempt of a notifier whose database was restored, so that it counts anew', async () => {
    const { report, delivery, queueSize } = await fired();
    await stack.report({ ...report, status: 'retrying', attempts: 3, sequence: 3 });
    await eventually(async () => expect(await delivery()).toMatchObject({ status: 'retrying', attempts: 3 }));
    const lastAttemptAt = new Date(clock.now + 1000).toISOString();
    const made = { ...report, lastAttemptAt, nextAttemptAt: null, error: null };
    await stack.report({ ...made, status: 'delivered', attempts: 1, sequence: 1 });
    await eventually(async () => expect(await delivery()).toMatchObject({ status: 'delivered', attempts: 1 }));
    expect(await queueSize()).toBe(0);
  });

  it('are in the list of alerts as with each alert alone', async () => {
    const { tenantId, report, delivery } = await fired();
    const [listed] = await stack.alerts(tenantId);
    expect(listed?.['deliveries']).toMatchObject([{ type: 'alert.fired', channel_id: report.channelId }]);
    expect(listed?.['deliveries']).toEqual([await delivery()]);
  });

  it('are shown with a type of channels that this release does not name', async () => {
    const tenantId = newTenant();
    const { id } = await createChannel(tenantId, { type: 'pager' });
    await createRule(tenantId, { ...everyEvent, channel_config_ids: [id] });
    await stack.append(tenantId, event(clock.now));
    await eventually(() => expect(notified(tenantId)).toMatchObject([{ channelType: 'pager' }]));
    const { items } = (await stack.unchecked('get', tenantId, '')).body as { items: Body[] };
    expect(items).toMatchObject([{ deliveries: [{ channel_type: 'pager' }] }]);
  });

  it('show a status that a newer release of the notifier reports', async () => {
    const { report, delivery, queueSize } = await fired();
    const { key, value } = encodeDelivery({ ...report, status: 'failed', attempts: 1, sequence: 1 });
    const record = JSON.parse(value.toString()) as object;
    const newer = { ...record, status: 'expired', type: 'alert.escalated', channel_type: 'pager' };
    await stack.appendRecord('alerts.deliveries', key, Buffer.from(JSON.stringify(newer)));
    await eventually(async () => {
      expect(await delivery()).toMatchObject({ type: 'alert.fired', channel_type: 'webhook', status: 'expired' });
    });
    expect(await queueSize()).toBe(0);
  });

  it('outlive what can not be read', async () => {
    const { report, delivery } = await fired();
    await stack.appendRecord('alerts.deliveries', report.alertId, Buffer.from('nonsense'));
    await stack.report({ ...report, status: 'failed', attempts: 9, sequence: 1 });
    await eventually(async () => expect(await delivery()).toMatchObject({ status: 'failed', attempts: 9 }));
  });
});

describe('the status of alerting', () => {
  it('is about the workspace, under exactly these names', async () => {
    const tenantId = newTenant();
    await createRule(newTenant());
    await createRule(tenantId);
    await createRule(tenantId, { enabled: false });
    await createChannel(tenantId);
    await createChannel(tenantId, { enabled: false });
    await createChannel(newTenant());

    expect(await expecting(200, 'get', tenantId, '/system')).toEqual({
      EvaluatorEnabled: true,
      DispatcherEnabled: true,
      QueueSize: 0,
      LastEvaluationTime: expect.stringMatching(/^2026-/),
      LastDispatchTime: expect.stringMatching(/^2026-/),
      EnabledRules: 1,
      NotEvaluatedSince: null,
      ConfiguredChannels: 2,
    });
  });

  it('is not answered without the notifier, which has the channels', async () => {
    await stack.peers.stop();
    const refused = await call('get', newTenant(), '/system');
    await stack.peers.start();
    expect([refused.status, refused.body, refused.headers['retry-after']]).toEqual([
      503,
      expect.objectContaining({ code: 'service_unavailable' }),
      '1',
    ]);
  });

  it('shows that the loops keep running when nothing happens', async () => {
    clock.now += 5000;
    const now = new Date(clock.now).toISOString();
    await eventually(async () => {
      const status = await expecting(200, 'get', newTenant(), '/system');
      expect(status).toMatchObject({ LastEvaluationTime: now, LastDispatchTime: now });
    });
  });
});
