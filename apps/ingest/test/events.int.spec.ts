import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import type { ErrorDetail } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import type { Response } from 'supertest';
import { BATCH, EVENTS_PATH, NOW, ONE, spend, useIngest } from './ingest.stack.ts';

const pathsOf = (response: Response) => (response.body as { details: ErrorDetail[] }).details.map(({ path }) => path);

describe('POST /api/v1/events', () => {
  const ingest = useIngest(useMongo());
  const { keys, post, logged } = ingest;

  it('answers 202 and has the event in the log, in the workspace of the key', async () => {
    const { apiKey, tenantId, keyId } = keys.issue();
    const event = spend({ time: '2026-11-21T18:59:00+01:00' });

    const response = await post({
      apiKey,
      body: { ...event, tenantid: 'ws_other' },
      headers: { 'x-request-id': 'my-request-1' },
    });

    expect([response.status, response.body]).toEqual([202, { accepted: 1, request_id: 'my-request-1' }]);
    await eventually(() =>
      expect(logged(tenantId)).toEqual([
        {
          tenantId,
          receivedAt: new Date(NOW).toISOString(),
          keyId,
          event: { ...event, time: '2026-11-21T17:59:00.000Z' },
        },
      ]),
    );
  });

  it('takes every type of event', async () => {
    const { apiKey, tenantId } = keys.issue();
    const where = { run_id: 'run-1', agent_id: 'agent-1' };
    const money = { requested_micros: 5, spent_micros: 10, daily_budget_usd_micros: 12 };
    const blocked = spend({ type: 'budget.blocked', data: { ...where, scope: 'agent', ...money } });
    const guarded = spend({ type: 'guard.blocked', data: { ...where, guard: 'pii', reason: 'an e-mail address' } });
    const other = spend({ type: 'tool.call_failed', data: { ...where, tool: 'search', attempts: [1, 2] } });

    const response = await post({ apiKey, type: BATCH, body: [spend(), blocked, guarded, other] });

    expect(response.body).toMatchObject({ accepted: 4 });
    await eventually(() =>
      expect(
        logged(tenantId)
          .map(({ event }) => event)
          .slice(1),
      ).toEqual([blocked, guarded, { ...other, data: where }]),
    );
  });

  it('takes a batch of 1000 and keeps its order', async () => {
    const { apiKey, tenantId } = keys.issue();
    const batch = Array.from({ length: 1000 }, () => spend());

    expect((await post({ apiKey, type: BATCH, body: batch })).body).toMatchObject({ accepted: 1000 });

    const ids = batch.map(({ id }) => id);
    await eventually(() => expect(logged(tenantId).map(({ event }) => event.id)).toEqual(ids));
  });

  it('takes a body of nearly 5 MiB, also compressed', async () => {
    const { apiKey } = keys.issue();
    const event = spend({ type: 'big.one', data: { text: 'x'.repeat(65_000) } });
    const batch = JSON.stringify(Array(80).fill(event));

    expect((await post({ apiKey, type: BATCH, body: batch })).status).toBe(202);
    const compressed = await fetch(ingest.url() + EVENTS_PATH, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': BATCH, 'content-encoding': 'gzip' },
      body: gzipSync(batch),
    });
    expect(compressed.status).toBe(202);
  });

  it('refuses a whole batch for one bad event, names its index and field, and appends nothing', async () => {
    const { apiKey, tenantId } = keys.issue();
    const batch = [spend(), spend({}, { amount_micros: -1, agent_id: undefined }), spend({ id: '' }), spend()];

    const response = await post({ apiKey, type: BATCH, body: batch });
    expect(response.status).toBe(400);
    expect(pathsOf(response).sort()).toEqual(['[1].data.agent_id', '[1].data.amount_micros', '[2].id']);

    // The log keeps the order per key, so the next event shows that nothing was appended before it.
    const next = spend();
    await post({ apiKey, body: next });
    await eventually(() => expect(logged(tenantId).map(({ event }) => event.id)).toEqual([next.id]));
  });

  it('refuses an event whose data has more than 64 KiB, in a batch by its index', async () => {
    const { apiKey } = keys.issue();
    const sized = (bytes: number) =>
      spend({ type: 'big.one', data: { text: 'x'.repeat(bytes - '{"text":""}'.length) } });

    expect((await post({ apiKey, body: sized(65_536) })).status).toBe(202);
    const response = await post({ apiKey, type: BATCH, body: [spend(), sized(65_537)] });
    expect([response.status, response.body]).toMatchObject([
      400,
      { details: [{ path: '[1].data', message: 'must be at most 65536 bytes of JSON' }] },
    ]);
  });

  it('lists at most 100 problems and says how many there are', async () => {
    const { apiKey } = keys.issue();

    const response = await post({ apiKey, type: BATCH, body: Array(500).fill(spend({ id: '' })) });

    expect(pathsOf(response)).toHaveLength(100);
    expect(response.body).toMatchObject({ error: 'The request has 500 problems; details lists 100 of them.' });
  });

  it('takes a time that is 5 minutes ahead of the clock, and not a millisecond more', async () => {
    const { apiKey } = keys.issue();
    const ahead = (ms: number) => spend({ time: new Date(NOW + ms).toISOString() });

    expect((await post({ apiKey, body: ahead(300_000) })).status).toBe(202);
    expect(pathsOf(await post({ apiKey, body: ahead(300_001) }))).toEqual(['time']);
    const mixed = [ahead(0), ahead(300_001), spend({ id: '' })];
    expect(pathsOf(await post({ apiKey, type: BATCH, body: mixed })).sort()).toEqual(['[1].time', '[2].id']);
  });

  it('refuses a source of Tollkeeper, whose events could be taken for sent already', async () => {
    const { apiKey } = keys.issue();
    const refused = await post({ apiKey, body: spend({ source: 'tollkeeper/enforcer' }) });
    expect([refused.status, pathsOf(refused)]).toEqual([400, ['source']]);
    expect((await post({ apiKey, body: spend({ source: '/tollkeeper/mine' }) })).status).toBe(202);
  });

  it.each([
    ['an empty batch', BATCH, '[]', ''],
    ['a batch of 1001', BATCH, JSON.stringify(Array(1001).fill(spend())), ''],
    ['a batch that is no list', BATCH, JSON.stringify(spend()), ''],
    ['a list under the type of one event', ONE, JSON.stringify([spend()]), ''],
    ['null', ONE, 'null', ''],
    ['nothing', ONE, '', ''],
    ['an operator object for an id', ONE, JSON.stringify(spend({ id: { $gt: '' } })), 'id'],
    ['an unknown name', ONE, JSON.stringify(spend({ tenant_id: 'ws_other' })), 'tenant_id'],
    ['an unknown field of a known type', ONE, JSON.stringify(spend({}, { amount: 1 })), 'data.amount'],
    [
      'an amount that JSON cannot carry',
      ONE,
      JSON.stringify(spend({}, { amount_micros: 2 ** 53 })),
      'data.amount_micros',
    ],
  ])('answers 400 to %s and says where', async (_case, type, body, path) => {
    const { apiKey } = keys.issue();
    const response = await post({ apiKey, type, body });

    expect(response.status).toBe(400);
    expect(pathsOf(response)).toContain(path);
  });

  it.each(['{', '{"id":1,}', '{"__proto__":{"a":1}}', '{"data":{"constructor":{"prototype":{}}}}', '\u0000'])(
    'answers 400 to %j',
    async (body) => {
      const { apiKey } = keys.issue();
      expect((await post({ apiKey, body })).status).toBe(400);
    },
  );

  it.each([
    'application/json',
    'text/plain',
    'application/cloudevents+xml',
    'application/cloudevents+json; charset=latin1',
  ])('answers 415 to %s and says what it takes', async (type) => {
    const { apiKey } = keys.issue();
    const response = await post({ apiKey, type, body: JSON.stringify(spend()) });

    expect(response.status).toBe(415);
    expect(response.body).toMatchObject({ code: 'unsupported_media_type' });
  });

  it('names all ways to a client that sends plain JSON', async () => {
    const { apiKey } = keys.issue();
    const response = await post({ apiKey, type: 'application/json', body: JSON.stringify(spend()) });

    const { error } = response.body as { error: string };
    expect(error).toContain(`The Content-Type must be ${ONE} or ${BATCH}, or application/json`);
    expect(error).toContain('ce-specversion, ce-id, ce-source, ce-type and ce-time');
  });

  it('answers 413 to a body over 5 MiB, and says what makes it smaller', async () => {
    const { apiKey } = keys.issue();
    const response = await post({ apiKey, body: 'x'.repeat(5 * 1024 * 1024 + 1) });

    expect(response.status).toBe(413);
    expect(response.body).toMatchObject({
      error: 'The request body is larger than 5 MiB. Send fewer events in a request.',
    });
  });

  it('answers 405 with Allow to another method, and 404 beside its path', async () => {
    const get = await fetch(ingest.url() + EVENTS_PATH);
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await fetch(`${ingest.url()}${EVENTS_PATH}/x`, { method: 'POST' })).status).toBe(404);
  });
});
