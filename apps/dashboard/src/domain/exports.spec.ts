import { describe, expect, it } from '@jest/globals';
import { AppError, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { SPEND_SETTLED, type DashboardEvent } from './event.ts';
import { createExports, type Exports } from './exports.ts';
import { createReads } from './reads.ts';
import type { SettlementPlace } from './settlement.page.ts';

const [a, b] = ['ws_a', 'ws_b'].map(provenTenantId) as [TenantId, TenantId];
const END = 1_000;

/** Exports of a workspace that has a call in each of `pages` milliseconds. `fail` may throw before a page. */
function start({ pages = END, fail = () => undefined }: { pages?: number; fail?: (page: number) => void } = {}) {
  const read: number[] = [];
  const reader = {
    async settlementsFrom(tenantId: TenantId, { time }: SettlementPlace) {
      fail(time);
      read.push(time);
      const call: DashboardEvent = { ...{ tenantId, source: '', eventId: '', type: SPEND_SETTLED, time }, data: {} };
      return { settlements: [call], next: time + 1 < pages ? { time: time + 1, after: '' } : null };
    },
  };
  const exports: Exports = createExports({
    ...{ reads: createReads(), reader, counted: async () => undefined },
    tallies: {
      ofSpans: async () => [],
      byAgent: async () => new Map(),
      byModel: async () => new Map(),
      breakdown: async () => ({ groups: [] }),
      runsStarted: async () => 0,
    },
  });
  const open = (tenantId: TenantId, signal = new AbortController().signal) =>
    exports.calls({ tenantId, span: { start: 0, end: END }, signal })[Symbol.asyncIterator]();
  return { read, open };
}

describe('an export', () => {
  it('reads a page when the one before was taken, and has each once', async () => {
    const { open, read } = start({ pages: 5 });
    const pages = open(a);
    await pages.next();
    await pages.next();
    await new Promise(setImmediate);
    expect(read).toEqual([0, 1]);
    for (let page = await pages.next(); page.done !== true; page = await pages.next());
    expect(read).toEqual([0, 1, 2, 3, 4]);
  });

  it('refuses another one of its workspace until it ends, says when that will be, and refuses no other workspace', async () => {
    const { open } = start();
    const first = open(a);
    for (let page = 0; page < 500; page += 1) await first.next();
    const refusal = await open(a)
      .next()
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'rate_limited', message: expect.stringContaining('of this workspace') });
    // Half of it is read, so the rest takes about as long again.
    expect((refusal as AppError).retryAfterSeconds).toBeLessThan(60);
    expect((await open(b).next()).done).toBe(false);
    await first.return(undefined);
    expect((await open(a).next()).done).toBe(false);
  });

  it('refuses further workspaces while eight are in progress', async () => {
    const { open } = start();
    for (let index = 0; index < 8; index += 1) await open(provenTenantId(`ws_${index}`)).next();
    await expect(open(a).next()).rejects.toMatchObject({ code: 'rate_limited' });
  });

  it('makes room for the next one when it fails', async () => {
    const { open } = start({
      fail(page) {
        if (page === 1) throw new Error('unreadable');
      },
    });
    const pages = open(a);
    await pages.next();
    await expect(pages.next()).rejects.toThrow('unreadable');
    expect((await open(a).next()).done).toBe(false);
  });

  it('does not break off because a page waited too long for its turn once, but when it did again', async () => {
    let refusals = 1;
    const { open, read } = start({
      pages: 4,
      fail(page) {
        if (page < 2 || refusals === 0) return;
        refusals -= 1;
        throw new AppError('rate_limited', 'busy');
      },
    });
    const pages = open(a);
    for (let page = await pages.next(); page.done !== true; page = await pages.next());
    expect(read).toEqual([0, 1, 2, 3]);
    refusals = 2;
    const others = open(b);
    await others.next();
    await others.next();
    await expect(others.next()).rejects.toMatchObject({ code: 'rate_limited' });
  });

  it('ends with its client', async () => {
    const { open, read } = start();
    const client = new AbortController();
    const pages = open(a, client.signal);
    await pages.next();
    client.abort(new Error('gone'));
    await expect(pages.next()).rejects.toThrow('gone');
    expect(read).toEqual([0]);
  });
});
