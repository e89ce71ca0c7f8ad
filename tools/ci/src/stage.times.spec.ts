import { describe, expect, it } from '@jest/globals';
import { createStageTimes } from './stage.times.ts';

describe('the times of stages', () => {
  it('are listed with what they are of, and how busy the machine was, also of a stage that fails', async () => {
    const now = { ms: 0, busyMs: 0 };
    const times = createStageTimes(() => ({ ...now }));
    const taking = (ms: number, busyMs: number, outcome: Promise<string>) => () => {
      now.ms += ms;
      now.busyMs += busyMs;
      return outcome;
    };
    expect(await times.time('tests', taking(754_400, 377_200, Promise.resolve('passed')))).toBe('passed');
    const failing = times.time('integration', taking(59_600, 59_000, Promise.reject(new Error('no Java'))));
    await expect(failing).rejects.toThrow('no Java');
    expect(times.table()).toBe('tests        12:34  50 % busy\nintegration   1:00  99 % busy');
  });
});
