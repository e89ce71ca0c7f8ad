import { describe, expect, it } from '@jest/globals';
import { createLate } from './late.component.ts';

function part() {
  const calls: string[] = [];
  const component = {
    name: 'part',
    start: async () => void calls.push('start'),
    stop: async () => void calls.push('stop'),
    ready: () => Promise.reject(new Error('not yet')),
  };
  return { calls, component };
}

describe('a component that is made late', () => {
  it('is made at its start, and stopped with it', async () => {
    const { calls, component } = part();
    const late = createLate('late', () => component);
    expect(() => late.made).toThrow('late has not been started yet');
    await late.start();
    expect(late.made).toBe(component);
    await expect(late.ready?.()).rejects.toThrow('not yet');
    await late.stop();
    expect(calls).toEqual(['start', 'stop']);
  });

  it('has nothing to stop when it could not be made', async () => {
    const late = createLate('late', () => Promise.reject(new Error('no address')));
    await expect(late.start()).rejects.toThrow('no address');
    await late.stop();
  });
});
