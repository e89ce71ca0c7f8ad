import { describe, expect, it } from '@jest/globals';
import { useMongo } from '@tollkeeper/testing';
import { newTenant, settled, useDashboard } from './dashboard.stack.ts';

const dashboard = useDashboard(useMongo());

/** The clock is at 2026-11-21T18:34:56.789Z. */
describe('a drilldown', () => {
  it('reads the time from `from` to `to`, or until now without `to`, in any offset', async () => {
    const tenantId = newTenant();
    const [first, last] = ['2026-11-01T00:00:00.000Z', '2026-11-20T23:59:59.999Z'];
    await dashboard.report(
      tenantId,
      [first, last, '2026-11-21T00:00:00.000Z'].map((time) => settled(time, 1)),
    );
    const zone = 'timezone=UTC';
    const closed = await dashboard.get(
      tenantId,
      `/spend?from=2026-11-01T01:00:00%2B01:00&to=2026-11-21T00:00:00Z&${zone}`,
    );
    expect(closed.body.window).toEqual({
      kind: 'custom',
      ...{ start: '2026-11-01T00:00:00.000Z', end: '2026-11-21T00:00:00.000Z', timezone: 'UTC' },
    });
    expect(closed.body.metrics.total_micros).toBe(2);
    const open = await dashboard.get(tenantId, `/overview?from=2026-11-01T00:00:00.001Z&${zone}`);
    expect(open.body.window.end).toBe('2026-11-21T18:34:56.789Z');
    expect(open.body.spend.total_micros).toBe(2);
    expect(open.body.comparison).toMatchObject({ end: '2026-11-01T00:00:00.001Z', total_micros: 1 });
  });

  it.each([
    ['to=2026-11-01T00:00:00Z', 'from', 'is required with to. Add a from, or leave to out'],
    ['range=today&to=2026-11-01T00:00:00Z', 'from', 'is required with to. Add a from, or leave to out'],
    ['from=2026-11-01T00:00:00Z&range=today', 'range', 'cannot be combined with from. Leave one of them out'],
    [
      'from=2026-11-01T00:00:00Z&to=2026-11-01T00:00:00Z',
      'from',
      'must be before to. Choose an earlier from, or a later to',
    ],
    ['from=2026-11-22T00:00:00Z', 'from', 'must be in the past, as without to the span ends now'],
    ['from=2025-10-17T00:00:00Z', 'from', 'must be at most 400 days before now, where the span ends without to'],
    [
      'from=2025-01-01T00:00:00Z&to=2026-03-01T00:00:00Z',
      'from',
      'must be at most 400 days before to. Choose a later from',
    ],
    ['from=2024-01-01T00:00:00Z&to=2024-01-02T00:00:00Z', 'from', 'has been removed. Choose a later from'],
    ['from=2026-06-15T10:00:00Z&to=2026-06-15T10:45:00Z', 'from', 'must be at least an hour before to'],
    ['from=2026-06-15T10:07:00Z&to=2026-06-15T18:00:00Z', 'from', 'must be on a quarter of an hour'],
    ['from=2026-06-15T10:00:00Z&to=2026-06-15T18:07:00Z', 'to', 'must be on a quarter of an hour'],
    ['from=yesterday', 'from', 'must be an RFC 3339 timestamp'],
  ])('refuses %s and says what is wrong with %s: it %s', async (query, path, message) => {
    const { status, body } = await dashboard.get(newTenant(), `/spend?${query}`);
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.details).toEqual([{ path, message: expect.stringContaining(message) }]);
  });

  it('says where events end in a window that starts before, and only there', async () => {
    const { body } = await dashboard.get(newTenant(), '/spend?from=2025-12-01T00:00:00Z');
    expect(body.window.events_from).toBe('2026-08-13T18:34:56.789Z');
    expect((await dashboard.get(newTenant(), '/spend?range=3m')).body.window).not.toHaveProperty('events_from');
  });
});
