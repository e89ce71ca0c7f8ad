import { describe, expect, it } from '@jest/globals';
import type { AlertGroup, ShownAlert } from '@tollkeeper/contracts';
import { chatBody } from '../src/channels/chat/chat.body.ts';
import { alertMail } from '../src/channels/email/alert.mail.ts';
import { teamsBody } from '../src/channels/teams/teams.body.ts';
import { MAX_BODY_BYTES, webhookBody } from '../src/channels/webhook/webhook.body.ts';
import type { Message } from '../src/domain/message.ts';
import { alertRecord, NOW } from './notification.builder.ts';
import { MAX_TEAMS_MESSAGE, teamsMessage } from './published.schemas.ts';

const LINKS = {
  url: 'https://tollkeeper.example.com/w/demo/api/v1/alerts?rule_id=rule_1',
  page: 'https://tollkeeper.example.com/w/demo/alerts?rule=rule_1',
};
const message = (group: AlertGroup<ShownAlert>, fields: Partial<Message> = {}): Message => ({
  ...{ id: 'ntf_1', type: 'alert.fired', timestamp: new Date(NOW).toISOString(), alert: alertRecord() },
  ...{ group, links: LINKS, ...fields },
});
const named = (count: number, fields: Partial<ShownAlert> = {}) =>
  Array.from({ length: count }, () => ({ ...alertRecord(), ...fields }));

const SENTENCE = '3 calls blocked by a budget within 10 minutes, any agent (threshold 3)';
const LISTED = `Nov 21, 18:00 UTC: ${SENTENCE}`;
const others = [...named(1), ...named(1, { status: 'acknowledged' }), ...named(1, { status: 'resolved' })];
const GROUP = { total: 1204, resolved: 3, others };
const LINES = [LISTED, `${LISTED} (acknowledged)`, `${LISTED} (resolved)`, 'and 1,200 more'];
const HEADLINE = 'Alert (high): Budget blocks · 1,204 alerts · 3 already resolved';

/** The longest that people can type, in characters that take the most room. */
const LONGEST: Partial<ShownAlert> = {
  ...{ severity: 'critical', rule_name: '&'.repeat(120), scope_type: 'agent', scope_id: '\u2602'.repeat(128) },
  event_types: Array.from({ length: 50 }, () => '\u2602'.repeat(128)),
  labels: Object.fromEntries(Array.from('abcdefghij', (name) => [name, '&'.repeat(128)])),
};
const longest = message({ total: 5000, resolved: 12, others: named(10, LONGEST) }, { alert: named(1, LONGEST)[0]! });

const textOf = (sent: Message) => (JSON.parse(chatBody(sent)) as { text: string }).text.split('\n');

describe('a message about several alerts', () => {
  it('to a chat says how many there are, names the first, and counts the others', () => {
    expect(textOf(message(GROUP))).toEqual([HEADLINE, SENTENCE, ...LINES]);
    const { blocks } = JSON.parse(chatBody(message(GROUP))) as { blocks: { text?: { text: string } }[] };
    expect(blocks.slice(1, 5).map(({ text }) => text?.text)).toEqual(LINES);
  });

  it.each<[string, string, { total: number; resolved: number }]>([
    ['Alert (high): Budget blocks · 12 alerts', 'alert.fired', { total: 12, resolved: 0 }],
    ['Alert (high): Budget blocks · 12 alerts · all already resolved', 'alert.fired', { total: 12, resolved: 12 }],
    ['Alert (high): Budget blocks', 'alert.fired', { total: 1, resolved: 0 }],
    ['Alert (high): Budget blocks · already resolved', 'alert.fired', { total: 1, resolved: 1 }],
    ['Resolved (high): Budget blocks · 2 alerts', 'alert.resolved', { total: 2, resolved: 2 }],
    ['Resolved (high): Budget blocks', 'alert.resolved', { total: 1, resolved: 1 }],
  ])('begins with "%s"', (headline, type, group) => {
    expect(textOf(message({ ...group, others: [] }, { type }))[0]).toBe(headline);
  });

  it('about resolved ones does not repeat that for each of them', () => {
    const resolved = { total: 3, resolved: 3, others: named(2, { status: 'resolved' }) };
    expect(textOf(message(resolved, { type: 'alert.resolved' })).slice(2)).toEqual([LISTED, LISTED]);
  });

  it('to Teams is a card of the published format that has the same lines', () => {
    const { body } = teamsMessage.parse(JSON.parse(teamsBody(message(GROUP)))).attachments[0].content;
    const texts = [...JSON.stringify(body).matchAll(/"text":"([^"]*)"/g)].map(([, text]) => text);
    expect(texts).toEqual([HEADLINE, SENTENCE, ...LINES]);
  });

  it('by mail has the same lines, escaped in the HTML, and is a thread of its own', () => {
    const options = { to: 'ada@example.com', readerId: 'r1', domain: 'example.com' };
    const stop = { stopUrl: 'https://t.test/stop', oneClickUrl: 'https://t.test/one' };
    const mailOf = (sent: Message) => alertMail(sent, { ...options, ...stop });
    const evil = { rule_kind: 'first_occurrence', event_types: ['<b>'] };
    const { subject, text, html } = mailOf(message({ ...GROUP, others: [...others, ...named(1, evil)] }));
    expect(subject).toBe(HEADLINE);
    expect(text).toContain(LINES.slice(0, 3).join('\n'));
    expect([html, html]).toEqual([expect.stringContaining('<li>'), expect.not.stringContaining('<b>')]);
    const [fired, resolved] = [message(GROUP), message(GROUP, { id: 'ntf_2', type: 'alert.resolved' })].map(mailOf);
    expect([fired!.id, resolved!.id]).toEqual(['ntf_1.r1@example.com', 'ntf_2.r1@example.com']);
    expect(resolved).toMatchObject({ subject: 'Resolved (high): Budget blocks · 1,204 alerts' });
    expect(resolved!.thread).toBeUndefined();
  });

  it('to a webhook has as many further alerts as fit, and the number of all', () => {
    const dataOf = (sent: Message) => (JSON.parse(webhookBody(sent)) as { data: { group: typeof GROUP } }).data;
    expect(dataOf(message(GROUP))).toMatchObject({ group: GROUP, url: LINKS.url });
    expect(Buffer.byteLength(webhookBody(longest))).toBeLessThan(MAX_BODY_BYTES);
    expect(dataOf(longest).group).toMatchObject({ total: 5000, resolved: 12 });
    expect(dataOf(longest).group.others.length).toBeLessThan(10);
  });

  it('stays within the limits of Slack and Teams with the longest texts', () => {
    const { text, blocks } = JSON.parse(chatBody(longest)) as { text: string; blocks: { text?: { text: string } }[] };
    expect(text.length).toBeLessThan(40_000);
    expect(blocks.length).toBeLessThanOrEqual(50);
    for (const block of blocks) expect(block.text?.text.length ?? 0).toBeLessThanOrEqual(3000);
    expect(Buffer.byteLength(teamsBody(longest))).toBeLessThan(MAX_TEAMS_MESSAGE);
  });
});
