import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { displayName, identifier, micros, planKey, timestamp, timezone, toUtcTimestamp } from './primitives.ts';

describe('timestamp', () => {
  it.each([
    ['2026-11-21T18:00:00Z', '2026-11-21T18:00:00.000Z'],
    ['2026-11-21t18:00:00.5z', '2026-11-21T18:00:00.500Z'],
    ['2026-11-21T18:00:00.1239999Z', '2026-11-21T18:00:00.123Z'],
    ['2026-11-21T18:00:00+01:00', '2026-11-21T17:00:00.000Z'],
    ['2026-11-21T23:45:00-00:30', '2026-11-22T00:15:00.000Z'],
    ['2026-01-01T00:00:00+05:45', '2025-12-31T18:15:00.000Z'],
    ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000Z'],
  ])('reads %s as %s', (text, utc) => {
    expect(timestamp.parse(text)).toBe(utc);
  });

  it.each([
    '',
    'now',
    '2026-11-21',
    '2026-11-21T18:00:00',
    '2026-11-21 18:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2016-12-31T23:59:60Z',
    '2026-11-21T24:00:00Z',
    '2026-11-21T18:60:00Z',
    '2026-11-21T18:00:00+24:00',
    '2026-11-21T18:00:00+0100',
    '2026-11-21T18:00:00.Z',
    '+012026-11-21T18:00:00Z',
    '9999-12-31T23:59:59-23:59',
    '0000-01-01T00:00:00+00:01',
    '1700000000000',
    '2026-11-21T18:00:00Z\n',
  ])('refuses %j', (text) => {
    expect(timestamp.safeParse(text).success).toBe(false);
  });

  it('reads every point in time in every offset', () => {
    const point = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true });
    const offset = fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 });
    fc.assert(
      fc.property(point, offset, (date, minutes) => {
        const local = new Date(date.getTime() + minutes * 60_000).toISOString().slice(0, -1);
        const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
        const zone = `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
        return toUtcTimestamp(local + zone) === date.toISOString();
      }),
    );
  });

  it('answers any text without throwing', () => {
    fc.assert(fc.property(fc.string(), (text) => toUtcTimestamp(text) === null));
  });
});

describe('a time zone', () => {
  it.each([
    ['utc', 'UTC'],
    ['europe/berlin', 'Europe/Berlin'],
    ['ASIA/KATHMANDU', 'Asia/Kathmandu'],
    ['america/port-au-prince', 'America/Port-au-Prince'],
    ['asia/calcutta', 'Asia/Calcutta'],
    ['US/Pacific', 'US/Pacific'],
  ])('%s is taken as %s: in the spelling of IANA, and a link stays itself', (given, taken) => {
    expect(timezone.parse(given)).toBe(taken);
  });
});

describe('the other primitives', () => {
  it.each([
    [identifier, ['a', 'A-z_0.9:x', 'x'.repeat(128)], ['', 'a b', 'ä', 'x'.repeat(129), 'a\n', 7, { $gt: '' }, null]],
    [micros, [0, 1, Number.MAX_SAFE_INTEGER], [-1, 0.5, 2 ** 53, NaN, Infinity, '1', null]],
    [timezone, ['UTC', 'Europe/Zurich', 'Asia/Kathmandu', 'Australia/Lord_Howe'], ['', 'Mars/Base', '+01:00', 1]],
    [planKey, ['a', '0-_', 'x'.repeat(64)], ['', '-a', 'A', 'x'.repeat(65), 'a\n']],
    [displayName, ['Ada', 'Zoë 🚀', 'x'.repeat(120)], ['', '   ', 'x'.repeat(121), 'a\u0000b', 'a\nb']],
  ])('take what they should and nothing else (%#)', (schema, good, bad) => {
    for (const value of good) expect(schema.safeParse(value)).toMatchObject({ success: true });
    for (const value of bad) expect(schema.safeParse(value)).toMatchObject({ success: false });
  });
});

it('a text too long for the name of a time zone is refused without being looked up as one, which would take long', () => {
  const { error } = timezone.safeParse('x'.repeat(1_000_000));
  expect(error?.issues.map(({ code }) => code)).toEqual(['too_big']);
});
