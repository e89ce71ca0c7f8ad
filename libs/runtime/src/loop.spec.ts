import { describe, expect, it } from '@jest/globals';
import { createLogger } from './logger.ts';
import { createLoop, type LoopOptions } from './loop.ts';

const HOUR_MS = 3_600_000;

function recordingLoop(
  intervalMs: number,
  work: (pass: number) => Promise<void> | void,
  options: Partial<LoopOptions> = {},
) {
  const lines: string[] = [];
  const logger = createLogger({
    service: 'test',
    level: 'warn',
    destination: { write: (line) => void lines.push(line) },
  });
  let passes = 0;
  const reached = new Map<number, () => void>();
  const loop = createLoop({
    name: 'sweeper',
    intervalMs,
    logger,
    async work() {
      passes += 1;
      reached.get(passes)?.();
      await work(passes);
    },
    ...options,
  });
  const pass = (number: number) =>
    passes >= number ? undefined : new Promise<void>((done) => reached.set(number, done));
  return { loop, lines, pass, passes: () => passes };
}

describe('a loop', () => {
  it('does its work at the start and again after each interval', async () => {
    const { loop, pass } = recordingLoop(1, () => undefined);
    await loop.start();
    await pass(3);
    await loop.stop();
  });

  it('does its work at once when it is woken, also when it is woken during the work', async () => {
    const { loop, pass } = recordingLoop(HOUR_MS, (number) => {
      if (number === 1) loop.wake();
    });
    await loop.start();
    await pass(2);
    loop.wake();
    await pass(3);
    await loop.stop();
  });

  it('continues after a failure, and logs it', async () => {
    const { loop, lines, pass } = recordingLoop(1, (number) => {
      if (number === 1) throw new Error('no database');
    });
    await loop.start();
    await pass(2);
    await loop.stop();
    expect(lines.join()).toContain('no database');
  });

  it('waits for the work in progress when it stops, and does none after', async () => {
    const release = Promise.withResolvers<void>();
    let finished = false;
    const { loop, pass, passes } = recordingLoop(0, async () => {
      await release.promise;
      finished = true;
    });
    await loop.start();
    await pass(1);
    const stopped = loop.stop();
    release.resolve();
    await stopped;
    expect([finished, passes()]).toEqual([true, 1]);
  });

  it('says whether it runs, and when its work last succeeded', async () => {
    let now = 1000;
    const { loop, pass } = recordingLoop(
      HOUR_MS,
      (number) => {
        now += 1000;
        if (number > 1) throw new Error('no database');
      },
      { clock: () => now },
    );
    expect(loop.running).toBe(false);
    await loop.start();
    expect(loop).toMatchObject({ running: true, lastPassAt: 1000 });
    await pass(1);
    loop.wake();
    await pass(2);
    await loop.stop();
    expect(loop).toMatchObject({ running: false, lastPassAt: 2000 });
  });

  it('starts without what it needs before, and does its work once that can be prepared', async () => {
    let attempts = 0;
    const prepare = async () => {
      attempts += 1;
      if (attempts < 3) throw new Error('no topic');
    };
    const { loop, lines, pass, passes } = recordingLoop(1, () => undefined, { prepare });
    await loop.start();
    expect(passes()).toBe(0);
    await pass(2);
    await loop.stop();
    expect([attempts, lines.length]).toEqual([3, 2]);
  });

  it('stops when it was never started', async () => {
    await recordingLoop(1, () => undefined).loop.stop();
  });
});
