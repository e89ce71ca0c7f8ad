import { describe, expect, it } from '@jest/globals';
import type { ErrorDetail } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { spend, useIngest } from './ingest.stack.ts';

describe('POST /api/v1/events in binary mode', () => {
  const ingest = useIngest(useMongo());
  const { keys, post, logged } = ingest;

  const postBinary = (apiKey: string, { data, ...attributes }: Record<string, unknown>) =>
    post({
      apiKey,
      type: 'application/json',
      body: JSON.stringify(data),
      headers: Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`ce-${name}`, String(value)])),
    });

  it('takes the event whose attributes are headers, as if it came in JSON', async () => {
    const { apiKey, tenantId } = keys.issue();
    const event = spend();
    const response = await postBinary(apiKey, { ...event, subject: 'dropped', traceparent: 'dropped' });
    expect([response.status, response.body]).toMatchObject([202, { accepted: 1 }]);
    await eventually(() => expect(logged(tenantId).map((record) => record.event)).toEqual([event]));
  });

  it('decodes attributes that are percent-encoded, and takes a lone percent sign as it is', async () => {
    const { apiKey, tenantId } = keys.issue();
    await postBinary(apiKey, { ...spend(), source: 'gateway%2feast' });
    await postBinary(apiKey, { ...spend(), source: '100%' });
    await eventually(() =>
      expect(logged(tenantId).map(({ event: { source } }) => source)).toEqual(['gateway/east', '100%']),
    );
  });

  it.each([
    ['an attribute that is missing', { id: undefined }, 'ce-id'],
    ['a time that is none', { time: 'yesterday' }, 'ce-time'],
    ["a source of Tollkeeper's own", { source: 'tollkeeper/enforcer' }, 'ce-source'],
    ['a field of the data', { data: { ...spend().data, amount_micros: -1 } }, 'amount_micros'],
    ['data that are a list', { data: [] }, ''],
  ])('answers 400 to %s, and names the header or the field', async (_case, change, path) => {
    const { apiKey } = keys.issue();
    const attributes = Object.fromEntries(
      Object.entries({ ...spend(), ...change }).filter(([, value]) => value !== undefined),
    );
    const response = await postBinary(apiKey, attributes);
    expect(response.status).toBe(400);
    const { details } = response.body as { details: ErrorDetail[] };
    expect(details.map((detail) => detail.path)).toEqual([path]);
  });
});
