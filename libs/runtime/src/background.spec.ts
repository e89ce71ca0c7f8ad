import { describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { inBackground } from './background.ts';
import type { Component } from './lifecycle.ts';
import { createLifecycle } from './lifecycle.ts';
import { createLogger } from './logger.ts';

function setUp(overrides: Partial<Component> = {}) {
  const lines: string[] = [];
  const calls: string[] = [];
  const logger = createLogger({
    service: 'test',
    level: 'warn',
    destination: { write: (line) => void lines.push(line) },
  });
  const part: Component = {
    name: 'consumer',
    start: async () => void calls.push('start'),
    stop: async () => void calls.push('stop'),
    ...overrides,
  };
  return { lines, calls, owner: createLifecycle([inBackground(part, logger)], logger, { name: 'owner' }) };
}

describe('a part in the background', () => {
  it('keeps its owner neither from starting nor from being ready, and starts as soon as it can', async () => {
    let away = true;
    const { lines, owner } = setUp({
      async start() {
        if (away) throw new Error('no broker answers');
      },
    });
    await owner.start();
    await owner.ready?.();
    await eventually(() => expect(lines.join()).toContain('consumer could not start; retrying'));
    await expect(owner.impaired?.()).rejects.toThrow('consumer: not started yet: no broker answers');
    away = false;
    await eventually(() => owner.impaired?.());
    await owner.stop();
  });

  it.each(['ready', 'impaired'] as const)(
    'says what it can not do, later too, and leaves its owner ready: %s',
    async (question) => {
      const { owner } = setUp({ [question]: () => Promise.reject(new Error('no partition is read')) });
      await owner.start();
      await eventually(() => expect(owner.impaired?.()).rejects.toThrow('consumer: no partition is read'));
      await owner.ready?.();
      await owner.stop();
    },
  );

  it('is stopped though its start has not come to an end, and is stopped again should it start after that', async () => {
    const answer = Promise.withResolvers<void>();
    const { calls, owner } = setUp({ start: () => answer.promise });
    await owner.start();
    await owner.stop();
    expect(calls).toEqual(['stop']);
    answer.resolve();
    await eventually(() => expect(calls).toEqual(['stop', 'stop']));
  });

  it('is started again and again, and no more once it drains', async () => {
    const logger = createLogger({ service: 'test', level: 'silent' });
    const background = () => {
      const state = { starts: 0 };
      const start = () => ((state.starts += 1), Promise.reject(new Error('no broker answers')));
      const part = { name: 'consumer', start, stop: async () => undefined };
      return { state, part: inBackground(part, logger, { retryIntervalMs: 1 }) };
    };
    const [drained, other] = [background(), background()];
    await drained.part.start();
    await eventually(() => expect(drained.state.starts).toBeGreaterThan(2));
    drained.part.drain?.();
    const { starts } = drained.state;
    await other.part.start();
    // In this time, the drained part would have been started as often.
    await eventually(() => expect(other.state.starts).toBeGreaterThan(5));
    expect(drained.state.starts).toBe(starts);
    await drained.part.stop();
    await other.part.stop();
  });
});
