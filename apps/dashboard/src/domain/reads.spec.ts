import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { createReads, type ReadMeter } from './reads.ts';

const [a, b, c, d] = ['ws_a', 'ws_b', 'ws_c', 'ws_d'].map(provenTenantId) as [TenantId, TenantId, TenantId, TenantId];
const LARGE_BYTES = 1_000;

describe('reads', () => {
  function start() {
    const reads = createReads({ largeBytes: LARGE_BYTES });
    const inProgress: string[] = [];
    let meters: ReadMeter[] = [];
    const ends = new Map<string, () => void>();
    return {
      inProgress,
      meters: () => meters.splice(0),
      run: (name: string, tenantId: TenantId, bytes: number, signal = new AbortController().signal) => {
        const done = reads.run({ tenantId, kind: name, signal }, async (meter) => {
          meters = [...meters, meter];
          meter.take(bytes);
          inProgress.push(name);
          await new Promise<void>((resolve) => ends.set(name, resolve));
          meter.take(1);
          return name;
        });
        done.catch(() => undefined);
        return done;
      },
      async end(name: string) {
        ends.get(name)?.();
        await nextTurn();
      },
    };
  }

  it('that are large are done one by one in a workspace, and two at a time in all', async () => {
    const { run, end, inProgress } = start();
    for (const name of ['a1', 'a2']) void run(name, a, LARGE_BYTES + 1);
    void run('b', b, LARGE_BYTES + 1);
    void run('c', c, LARGE_BYTES + 1);
    await nextTurn();
    expect(inProgress).toEqual(['a1', 'b']);
    await end('a1');
    expect(inProgress).toEqual(['a1', 'b', 'a2']);
    await end('a2');
    expect(inProgress).toEqual(['a1', 'b', 'a2', 'c']);
  });

  it('that are small wait for no large ones, not even of their workspace', async () => {
    const { run, end, inProgress } = start();
    for (const name of ['a1', 'a2', 'a3']) void run(name, a, LARGE_BYTES + 1);
    void run('b', b, LARGE_BYTES + 1);
    await nextTurn();
    const small = run('small', a, LARGE_BYTES - 1);
    void run('of another', d, 1);
    await nextTurn();
    expect(inProgress.slice(2)).toEqual(['small', 'of another']);
    await end('small');
    await expect(small).resolves.toBe('small');
  });

  it('begin among the large ones after one of their kind that was large, until one is small again', async () => {
    const { run, end, meters } = start();
    const begins: number[] = [];
    for (const bytes of [LARGE_BYTES + 1, LARGE_BYTES + 1, 1, LARGE_BYTES + 1]) {
      const done = run('same', a, bytes);
      await nextTurn();
      begins.push(meters().length);
      await end('same');
      await done;
    }
    expect(begins).toEqual([2, 1, 1, 2]);
  });

  it('are refused in words and with a time once too many of their workspace wait, and others are not', async () => {
    const { run, inProgress } = start();
    const all = Array.from({ length: 258 }, (_, index) => run(`a${index}`, a, LARGE_BYTES + 1));
    await expect(all[257]).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterSeconds: 10,
      message: expect.stringContaining('Other reads of this workspace'),
    });
    void run('b', b, LARGE_BYTES + 1);
    await nextTurn();
    expect(inProgress).toEqual(['a0', 'b']);
  });

  it('stop once no one waits for them, and make room for the next', async () => {
    const { run, end, inProgress } = start();
    const gone = new AbortController();
    const [first, second] = [run('a1', a, LARGE_BYTES + 1, gone.signal), run('a2', a, LARGE_BYTES + 1, gone.signal)];
    void run('a3', a, LARGE_BYTES + 1);
    await nextTurn();
    gone.abort();
    await expect(second).rejects.toBe(gone.signal.reason);
    expect(inProgress).toEqual(['a1']);
    await end('a1');
    await expect(first).rejects.toBe(gone.signal.reason);
    expect(inProgress).toEqual(['a1', 'a3']);
  });

  it('take nothing more once they have ended, also what was begun beside what failed', async () => {
    const { run, end, meters } = start();
    const done = run('a', a, 1);
    await nextTurn();
    const [meter] = meters();
    await end('a');
    await done;
    expect(() => meter!.take(0)).toThrow();
  });
});
