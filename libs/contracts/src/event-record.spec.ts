import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import {
  budgetBlocked,
  EVENTS,
  guardBlocked,
  other,
  spend,
  thresholdReached,
  unmetered,
} from '../test/event.samples.ts';
import { decodeGatewayEvent, encodeGatewayEvent, peekEventType } from './event-record.ts';
import { type GatewayEvent, gatewayEventSchema } from './events.ts';

describe('the record of an event in the log', () => {
  const tenantId = provenTenantId('ws_1');
  const receivedAt = '2026-11-21T18:00:01.000Z';

  it('shows its type at a glance, whatever the event says, and nothing where another writer wrote it', () => {
    const peek = (input: object) =>
      peekEventType(encodeGatewayEvent({ tenantId, receivedAt, event: gatewayEventSchema.parse(input) }).value);
    const longest = 'a'.repeat(128);
    expect(peek(spend)).toBe('spend.settled');
    expect(peek({ ...spend, source: '/a"b\\c","type":"no"' })).toBe('spend.settled');
    expect(peek({ ...other, type: longest, data: { type: 'no', event: { type: 'no' } } })).toBe(longest);
    const { value } = encodeGatewayEvent({ tenantId, receivedAt, event: gatewayEventSchema.parse(spend) });
    const { v, event, ...rest } = JSON.parse(value.toString());
    const { type, ...others } = event;
    const foreign = [
      { event, v, ...rest },
      { v, event: { ...others, type } },
      { v, event: { type: 'a"b' } },
      { v, event: { type: 1 } },
      { v: 2, event },
      [],
      null,
    ];
    expect(foreign.map((each) => peekEventType(Buffer.from(JSON.stringify(each))))).toEqual(foreign.map(() => null));
    for (const cut of [1, 22, 23, 30]) expect(peekEventType(value.subarray(0, cut))).toBeNull();
  });

  it.each(Object.values(EVENTS))('keeps $type whole', (input) => {
    const event = gatewayEventSchema.parse(input);
    const { key, value } = encodeGatewayEvent({ tenantId, receivedAt, event });
    expect(key).toBe('ws_1');
    expect(decodeGatewayEvent(value)).toEqual({ tenantId, receivedAt, event });
  });

  it.each([spend, budgetBlocked, guardBlocked, unmetered])('keeps its key and all labels: $type', (input) => {
    const labels = Object.fromEntries(Array.from({ length: 30 }, (_, nth) => [`label.${nth}`, 'Zürich']));
    const event = { ...gatewayEventSchema.parse(input), data: { ...input.data, labels } } as GatewayEvent;
    const record = { tenantId, receivedAt, keyId: 'k7', event };
    expect(decodeGatewayEvent(encodeGatewayEvent(record).value)).toEqual(record);
  });

  it('keeps of the data of another type what is read of it, and nothing else that its sender adds', () => {
    const where = { run_id: 'run-1', agent_id: 'agent-1' };
    const input = {
      ...other,
      ext: 'x',
      data: { ...where, text: 'x'.repeat(60_000), tool: { name: 'search', tags: ['a'] } },
    };
    const { value } = encodeGatewayEvent({ tenantId, receivedAt, event: gatewayEventSchema.parse(input) });
    expect(decodeGatewayEvent(value).event.data).toEqual(where);
    expect(value.length).toBeLessThan(512);
  });

  it('takes less than 24 KiB, at its largest', () => {
    // A control character takes six bytes in JSON.
    const [id, name] = ['x'.repeat(128), '\u0001'.repeat(128)];
    const data = { run_id: id, agent_id: id, guard: name, reason: '\u0001'.repeat(1000) };
    const event = gatewayEventSchema.parse({ ...guardBlocked, id, source: '"'.repeat(256), data });
    // Those of its call, its agent and its key.
    const labels = Array.from({ length: 30 }, (_, nth) => [`${'x'.repeat(30)}${nth}`, '\uffff'.repeat(128)]);
    const labelled = { ...event, data: { ...event.data, labels: Object.fromEntries(labels) } } as GatewayEvent;
    const record = { tenantId: provenTenantId(id), receivedAt, keyId: id };
    expect(encodeGatewayEvent({ ...record, event: labelled }).value.length).toBeLessThan(24 * 1024);
  });

  it('lets fields by that a newer producer added', () => {
    const { value } = encodeGatewayEvent({ tenantId, receivedAt, event: gatewayEventSchema.parse(spend) });
    const newer = JSON.parse(value.toString());
    Object.assign(newer, { region: 'eu' });
    Object.assign(newer.event.data, { currency: 'USD' });
    expect(decodeGatewayEvent(Buffer.from(JSON.stringify(newer))).event).toEqual(gatewayEventSchema.parse(spend));
  });

  it('lets values by that a newer producer added to an unmetered call, and says them as they are', () => {
    const newer = { ...gatewayEventSchema.parse(unmetered), data: { ...unmetered.data, reason: 'timed_out' } };
    expect(decodeGatewayEvent(encodeGatewayEvent({ tenantId, receivedAt, event: newer }).value).event).toEqual(newer);
  });

  it.each([budgetBlocked, thresholdReached])('keeps $type with a scope that a newer producer added', (input) => {
    const event = gatewayEventSchema.parse(input);
    const newer = { ...event, data: { ...event.data, scope: 'team' } };
    expect(decodeGatewayEvent(encodeGatewayEvent({ tenantId, receivedAt, event: newer }).value).event).toEqual(newer);
  });

  it.each([
    ['source', 'that is no Unicode', '/gateways/\ud800'],
    ['source', 'that is too long', '/'.repeat(257)],
    ['id', 'that is no Unicode', 'evt-\udfff'],
  ])('is unreadable for a %s %s, which readers could not keep as a key', (name, _what, text) => {
    const foreign = { ...gatewayEventSchema.parse(spend), [name]: text };
    const { value } = encodeGatewayEvent({ tenantId, receivedAt, event: foreign });
    expect(() => decodeGatewayEvent(value)).toThrow(`event.${name}: `);
  });

  it.each([
    ['not JSON', 'not JSON'],
    ['null', 'expected object'],
    ['[]', 'expected object'],
    ['{"v":2}', 'v: '],
    ['{"v":1,"tenant_id":{"$gt":""},"event":null}', 'tenant_id: '],
    ['{"v":1,"tenant_id":"t","received_at":"2026-11-21T18:00:01.000Z","event":{"type":"spend.settled"}}', 'event.id'],
  ])('says why %s is unreadable', (text, reason) => {
    expect(() => decodeGatewayEvent(Buffer.from(text))).toThrow(reason);
  });
});
