import { describe, expect, it } from '@jest/globals';
import { chatBody } from '../src/channels/chat/chat.body.ts';
import { type Message, testMessage } from '../src/domain/message.ts';
import { MAX_BODY_BYTES, webhookBody } from '../src/channels/webhook/webhook.body.ts';
import { alertRecord, newTenant, NOW } from './notification.builder.ts';

const message = (fields: Partial<Message> = {}): Message => ({
  id: 'ntf_1',
  type: 'alert.fired',
  timestamp: new Date(NOW).toISOString(),
  alert: alertRecord(),
  url: 'https://tollkeeper.example.com/w/demo/api/v1/alerts/alrt_1',
  ...fields,
});

describe('the body for a webhook', () => {
  it('is type, timestamp and the alert with its url', () => {
    const sent = message();
    const { type, timestamp, alert, url } = sent;
    expect(JSON.parse(webhookBody(sent))).toEqual({ type, timestamp, data: { ...alert, url } });
  });

  it('shows a test the fields of a real alert', () => {
    const sample = testMessage(newTenant(), 'https://tollkeeper.example.com', NOW);
    const body = JSON.parse(webhookBody(sample)) as { type: string; data: object };
    expect(body.type).toBe('channel.test');
    expect(Object.keys(body.data)).toEqual([...Object.keys(alertRecord()), 'url']);
  });

  it.each([
    ['many event types', alertRecord({ event_types: Array.from({ length: 5000 }, (_, n) => `type.number_${n}`) })],
    ['a long name', alertRecord({ rule_name: '☂'.repeat(50_000) })],
    ['long ids', alertRecord({ sample_event_ids: Array.from({ length: 10 }, () => 'x'.repeat(3000)) })],
  ])('stays under 20 kB with %s', (_case, alert) => {
    const body = webhookBody(message({ alert }));
    expect(Buffer.byteLength(body)).toBeLessThan(MAX_BODY_BYTES);
    expect(JSON.parse(body)).toMatchObject({ data: { id: alert.id, event_count: 3 } });
  });
});

describe('the body for a chat', () => {
  const parse = (body: string) => JSON.parse(body) as { text: string; blocks: object[] };

  it('has a fallback text, and blocks with a link', () => {
    const { text, blocks } = parse(chatBody(message()));
    expect(text).toBe('Alert (high): Budget blocks');
    expect(JSON.stringify(blocks)).toContain('<https://tollkeeper.example.com/w/demo/api/v1/alerts/alrt_1|Open');
    expect(blocks[1]).toMatchObject({
      fields: expect.arrayContaining([{ type: 'mrkdwn', text: '*Events*\nbudget.blocked', verbatim: true }]),
    });
  });

  it('says what it is about: a resolution, a test, a first occurrence', () => {
    const resolved = alertRecord({ status: 'resolved', resolved_at: '2026-11-21T18:05:00.000Z' });
    expect(chatBody(message({ type: 'alert.resolved', alert: resolved }))).toContain('Resolved at');
    expect(parse(chatBody(testMessage(newTenant(), 'https://t', NOW))).text).toBe('Test (info): Test of this channel');
    expect(chatBody(message({ alert: alertRecord({ rule_kind: 'first_occurrence' }) }))).toContain('first occurrence');
    const spend = { threshold_micros: 10_000_000, settled_micros: 12_345_670 };
    const spent = alertRecord({ rule_kind: 'spend_gte', threshold: 0, event_count: 7, spend });
    expect(chatBody(message({ alert: spent }))).toContain('$12.34567 in 7 settlements (threshold $10.00)');
    const one = { ...spent, event_count: 1, spend: { threshold_micros: 1, settled_micros: 1_000_000_000_000_000 } };
    expect(chatBody(message({ alert: one }))).toContain('$1000000000.00 in 1 settlement (threshold $0.000001)');
  });

  it('lets nobody mention, link or break out with text of their own', () => {
    const evil = '<!channel> & <https://evil.example|click>\n\n*x*';
    const body = chatBody(message({ alert: alertRecord({ rule_name: evil, scope_id: evil, event_types: [evil] }) }));
    expect(body).not.toContain('<!channel');
    expect(body).not.toContain('<https://evil');
    expect(parse(body).text).toBe('Alert (high): &lt;!channel&gt; &amp; &lt;https://evil.example|click&gt; *x*');
  });

  it('has Slack make no links of what people typed, in any of its formatted texts', () => {
    const alert = alertRecord({ rule_name: 'see evil.example', resolved_at: '2026-11-21T18:05:00.000Z' });
    const texts: object[] = [];
    JSON.parse(chatBody(message({ alert })), (_key, value: unknown) => {
      if (typeof value === 'object' && value !== null && 'type' in value && value.type === 'mrkdwn') texts.push(value);
      return value;
    });
    expect(texts.length).toBeGreaterThan(2);
    for (const each of texts) expect(each).toMatchObject({ verbatim: true });
  });

  it("stays within Slack's limits however long the text", () => {
    const long = '&'.repeat(100_000);
    const types = Array.from({ length: 1000 }, () => long);
    const alert = alertRecord({ rule_name: long, scope_id: long, event_types: types, triggered_at: long });
    const { text, blocks } = parse(chatBody(message({ alert })));
    expect(text.length).toBeLessThan(3000);
    const { fields = [] } = blocks[1] as { fields?: { text: string }[] };
    expect(fields.length).toBeLessThanOrEqual(10);
    for (const field of fields) expect(field.text.length).toBeLessThanOrEqual(2000);
  });
});
