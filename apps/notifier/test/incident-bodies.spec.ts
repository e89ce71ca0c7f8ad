import { describe, expect, it } from '@jest/globals';
import { chatBody } from '../src/channels/chat/chat.body.ts';
import { alertMail } from '../src/channels/email/alert.mail.ts';
import { stepsOf } from '../src/channels/message.text.ts';
import { opsgenieRequest } from '../src/channels/opsgenie/opsgenie.request.ts';
import { pagerdutyBody } from '../src/channels/pagerduty/pagerduty.body.ts';
import { teamsBody } from '../src/channels/teams/teams.body.ts';
import { webhookBody } from '../src/channels/webhook/webhook.body.ts';
import type { Message } from '../src/domain/message.ts';
import { ROUTING_KEY } from './channel.api.ts';
import { alertRecord, NOW } from './notification.builder.ts';
import {
  MAX_PAGERDUTY_EVENT,
  MAX_TEAMS_MESSAGE,
  opsgenieAlert,
  opsgenieNote,
  pagerdutyEvent,
  teamsMessage,
} from './published.schemas.ts';

const PAGE = 'https://tollkeeper.example.com/w/demo/alerts?alert=alrt_1';
const STEPS = [
  { text: 'Raise until midnight', url: `${PAGE}&step=raise` },
  { text: 'Pause', url: `${PAGE}&step=pause` },
  { text: 'See the calls', url: `${PAGE}&step=calls` },
];
const links = { url: 'https://tollkeeper.example.com/w/demo/api/v1/alerts/alrt_1', page: PAGE };

function message(alert: Partial<Message['alert']> = {}, type = 'alert.fired'): Message {
  const fields = { ...alertRecord({ id: 'alrt_1' }), ...alert };
  return { id: 'ntf_1', type, timestamp: new Date(NOW).toISOString(), alert: fields, links };
}

const SENTENCE = '3 calls blocked by a budget within 10 minutes, any agent (threshold 3)';
const LONG = '☂'.repeat(100_000);
const longest = message({
  ...{ rule_name: LONG, scope_type: LONG, scope_id: LONG, severity: LONG, rule_kind: LONG, rule_id: LONG },
  event_types: Array.from({ length: 1000 }, () => LONG),
  labels: Object.fromEntries(Array.from('abcdefghij', (name) => [name, LONG])),
});

describe('an event for PagerDuty', () => {
  it('says what happened, where, and where to look', () => {
    const event = pagerdutyEvent.parse(JSON.parse(pagerdutyBody(ROUTING_KEY, message({ severity: 'critical' }))));
    expect(event).toMatchObject({
      ...{ routing_key: ROUTING_KEY, event_action: 'trigger', dedup_key: 'alrt_1' },
      payload: {
        ...{ summary: `Budget blocks: ${SENTENCE}`, source: 'tollkeeper.example.com', severity: 'critical' },
        ...{ timestamp: '2026-11-21T18:00:00.000Z', component: 'workspace ws_1', class: 'event_count_gte' },
        custom_details: { alert_id: 'alrt_1', rule_id: 'rule_1', workspace_id: 'ws_1' },
      },
      links: [...STEPS.map(({ text, url }) => ({ text, href: url })), { href: PAGE }],
    });
  });

  it.each([
    ['alert.acknowledged', 'acknowledge'],
    ['alert.resolved', 'resolve'],
  ])('of the type %s names only the incident', (type, event_action) => {
    const body = pagerdutyBody(ROUTING_KEY, message({}, type));
    const expected = { routing_key: ROUTING_KEY, event_action, dedup_key: 'alrt_1' };
    expect(pagerdutyEvent.parse(JSON.parse(body))).toEqual(expected);
  });

  it('stays within the limits however long the texts are', () => {
    const body = pagerdutyBody(ROUTING_KEY, longest);
    expect(pagerdutyEvent.parse(JSON.parse(body))).toMatchObject({ payload: { severity: 'error' } });
    expect(Buffer.byteLength(body)).toBeLessThan(MAX_PAGERDUTY_EVENT);
  });
});

describe('a request to Opsgenie', () => {
  it('creates an alert with the whole sentence in its description', () => {
    const { url, body } = opsgenieRequest('https://api.eu.opsgenie.com/v2/alerts', message());
    expect(url).toBe('https://api.eu.opsgenie.com/v2/alerts');
    expect(opsgenieAlert.parse(JSON.parse(body))).toMatchObject({
      ...{ message: `Budget blocks: ${SENTENCE}`, description: SENTENCE, alias: 'alrt_1', entity: 'workspace ws_1' },
      ...{ priority: 'P2', source: 'Tollkeeper' },
      details: { url: PAGE, ...Object.fromEntries(STEPS.map(({ text, url }) => [text, url])) },
    });
  });

  it.each([
    ['https://relay.example/v2/alerts/', 'https://relay.example/v2/alerts/alrt_1/close?identifierType=alias'],
    ['https://relay.example/v2/alerts?a=1', 'https://relay.example/v2/alerts/alrt_1/close?a=1&identifierType=alias'],
    ['https://relay.example', 'https://relay.example/alrt_1/close?identifierType=alias'],
  ])('closes the alert below %s', (base, expected) => {
    const { url, body } = opsgenieRequest(base, message({}, 'alert.resolved'));
    expect(url).toBe(expected);
    expect(opsgenieNote.parse(JSON.parse(body))).toMatchObject({ note: `Resolved in Tollkeeper: ${PAGE}` });
  });

  it('stays within the limits however long the texts are', () => {
    const alert = opsgenieAlert.parse(JSON.parse(opsgenieRequest('https://api.opsgenie.com/v2/alerts', longest).body));
    expect(alert.priority).toBe('P2');
  });
});

it.each([
  ['critical', 'critical', 'P1'],
  ['high', 'error', 'P2'],
  ['medium', 'warning', 'P3'],
  ['low', 'warning', 'P4'],
  ['info', 'info', 'P5'],
])('the severity %s is %s in PagerDuty and %s in Opsgenie', (severity, ofPagerduty, priority) => {
  const sent = message({ severity });
  expect(JSON.parse(pagerdutyBody(ROUTING_KEY, sent))).toMatchObject({ payload: { severity: ofPagerduty } });
  expect(JSON.parse(opsgenieRequest('https://api.opsgenie.com/v2/alerts', sent).body)).toMatchObject({ priority });
});

it.each(['', 'x', 'xy'])('text of a message is never cut within a character, with %j before it', (start) => {
  const text = `${start}${'🤖'.repeat(2_000)}`;
  const sent = message({ rule_name: text, scope_type: 'agent', scope_id: text, labels: { team: text } });
  const { body } = opsgenieRequest('https://api.opsgenie.com/v2/alerts', sent);
  for (const each of [pagerdutyBody(ROUTING_KEY, sent), body, teamsBody(sent), chatBody(sent), webhookBody(sent)]) {
    // JSON has half a character as its code.
    expect(each).not.toMatch(/\\ud[89a-f]/);
    expect(each).toContain('🤖');
  }
});

describe('the ways out of an alert', () => {
  it('are links in every message to people', () => {
    const sent = message();
    const options = { to: 'ada@example.com', readerId: 'r1', domain: 'example.com' };
    const { text, html } = alertMail(sent, {
      ...options,
      stopUrl: 'https://t.test/s',
      oneClickUrl: 'https://t.test/o',
    });
    const { body } = opsgenieRequest('https://api.opsgenie.com/v2/alerts', sent);
    for (const each of [pagerdutyBody(ROUTING_KEY, sent), body, teamsBody(sent), chatBody(sent), text, html!]) {
      const shown = each.replaceAll(/&amp;|&#38;/g, '&');
      for (const { text: name, url } of STEPS)
        expect([shown.includes(name), shown.includes(url)]).toEqual([true, true]);
    }
  });

  const of = (fields: Partial<Message['alert']>, page = PAGE) => {
    const steps = stepsOf({ ...message({ event_types: ['spend.settled'], ...fields }), links: { ...links, page } });
    return steps.map(({ text }) => text);
  };
  const reached = { scope: 'agent', scope_id: 'a', percent: 80, spent_micros: 8, daily_budget_usd_micros: 10 };

  it('are to raise the budget if it is about one, to pause the calls, and to see them', () => {
    const all = STEPS.map(({ text }) => text);
    expect([of({}), of({ budget: reached }), of({ event_types: ['budget.blocked'] })]).toEqual([
      all.slice(1),
      all,
      all,
    ]);
  });

  it('are none once it is resolved, of a request for more, and while the name of the workspace is unknown', () => {
    const request = 'https://tollkeeper.example.com/w/demo/raises/rai_1?token=tk_raise_x';
    expect([of({ status: 'resolved' }), of({}, request), of({}, 'https://t.test/')]).toEqual([[], [], []]);
  });
});

describe('a card for Teams', () => {
  const cardOf = (sent: Message) => teamsMessage.parse(JSON.parse(teamsBody(sent))).attachments[0].content;

  it('says what happened, and when it fired and was resolved', () => {
    const { body } = cardOf(message({ resolved_at: '2026-11-21T18:05:00.000Z' }, 'alert.resolved'));
    expect(body).toEqual([
      {
        type: 'RichTextBlock',
        inlines: [{ type: 'TextRun', text: 'Resolved (high): Budget blocks', weight: 'Bolder', size: 'Medium' }],
      },
      { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: SENTENCE }] },
      {
        type: 'FactSet',
        facts: [
          { title: 'Fired at', value: '2026-11-21T18:00:00.000Z' },
          { title: 'Resolved at', value: '2026-11-21T18:05:00.000Z' },
        ],
      },
    ]);
  });

  it('has text that people typed only where Teams reads no Markdown, and as it was typed', () => {
    const evil = '[click](https://evil.example) <at>everyone</at> & **x**';
    const { body, actions } = cardOf(message({ rule_name: evil, scope_type: 'agent', scope_id: evil }));
    const [headline, sentence, ...others] = body;
    expect(headline).toMatchObject({ inlines: [{ text: `Alert (high): ${evil}` }] });
    expect(sentence).toMatchObject({ inlines: [{ text: expect.stringContaining('[click](https://evil.example)') }] });
    expect(JSON.stringify([others, actions])).not.toContain('evil');
  });

  it('stays within the limit of Teams however long the texts are', () => {
    expect(Buffer.byteLength(teamsBody(longest))).toBeLessThan(MAX_TEAMS_MESSAGE);
    cardOf(longest);
  });
});
