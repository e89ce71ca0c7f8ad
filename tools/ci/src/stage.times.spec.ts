import { describe, expect, it } from '@jest/globals';
import { createStageTimes } from './stage.times.ts';

describe('the times of stages', () => {
  it('are listed with what they are of, also of a stage that fails', async () => {
    let nowMs = 0;
    const times = createStageTimes(() => nowMs);
    const taking = (ms: number, outcome: Promise<string>) => () => {
      nowMs += ms;
      return outcome;
    };
    expect(await times.time('tests', taking(754_400, Promise.resolve('passed')))).toBe('passed');
    const failing = times.time('integration', taking(59_600, Promise.reject(new Error('no Java'))));
    await expect(failing).rejects.toThrow('no Java');
    expect(times.table()).toBe('tests        12:34\nintegration   1:00');
  });
});
