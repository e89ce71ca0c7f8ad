import { describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { createLifecycle } from './lifecycle.ts';
import type { Component } from './lifecycle.ts';
import { createLogger } from './logger.ts';

const logger = createLogger({ service: 'test', level: 'silent' });

function recorder() {
  const calls: string[] = [];
  const part = (name: string, overrides: Partial<Component> = {}): Component => ({
    name,
    start: async () => void calls.push(`start ${name}`),
    stop: async () => void calls.push(`stop ${name}`),
    ...overrides,
  });
  return { calls, part };
}

describe('createLifecycle', () => {
  it('starts in order and stops in reverse', async () => {
    const { calls, part } = recorder();
    const all = createLifecycle([part('a'), part('b'), part('c')], logger);
    await all.start();
    await all.stop();
    expect(calls).toEqual(['start a', 'start b', 'start c', 'stop c', 'stop b', 'stop a']);
  });

  it('stops what it started when a part fails to start, and throws that failure', async () => {
    const { calls, part } = recorder();
    const broken = part('b', { start: () => Promise.reject(new Error('b is broken')) });
    const all = createLifecycle([part('a'), broken, part('c')], logger);
    await expect(all.start()).rejects.toThrow('b is broken');
    expect(calls).toEqual(['start a', 'stop b', 'stop a']);
    await all.stop();
    expect(calls).toHaveLength(3);
  });

  it('stops every part though one fails, then says so', async () => {
    const { calls, part } = recorder();
    const stuck = part('b', { stop: () => Promise.reject(new Error('b is stuck')) });
    const all = createLifecycle([part('a'), stuck], logger);
    await all.start();
    await expect(all.stop()).rejects.toMatchObject({ errors: [new Error('b is stuck')] });
    expect(calls.at(-1)).toBe('stop a');
  });

  it('stops once however often it is asked to', async () => {
    const { calls, part } = recorder();
    const all = createLifecycle([part('a')], logger);
    await all.start();
    await Promise.all([all.stop(), all.stop()]);
    await all.stop();
    expect(calls).toEqual(['start a', 'stop a']);
  });

  it('stopped in mid-start, starts no further part and stops the ones it has', async () => {
    const { calls, part } = recorder();
    const gate = Promise.withResolvers<void>();
    const all = createLifecycle([part('a', { start: () => gate.promise }), part('b')], logger);
    const started = all.start();
    const stopped = all.stop();
    gate.resolve();
    await expect(started).rejects.toThrow('stopped while it started');
    await stopped;
    expect(calls).toEqual(['stop a']);
  });

  it('stopped while a part of its parts waits for a server, has it give up, and starts nothing after it', async () => {
    const { calls, part } = recorder();
    const waiting = Promise.withResolvers<void>();
    const server = part('mongo', {
      start: () => waiting.promise,
      drain: () => waiting.reject(new Error('gave up')),
      ready: () => Promise.reject(new Error('nobody answers')),
    });
    const inner = createLifecycle([server, part('b')], logger, { name: 'inner' });
    const all = createLifecycle([part('a'), inner, part('c')], logger, { name: 'keys' });
    const started = all.start();
    await eventually(() => expect(calls).toEqual(['start a']));
    await expect(all.ready?.()).rejects.toThrow('keys is starting; inner: inner is starting; mongo: nobody answers');
    const stopped = all.stop();
    await expect(started).rejects.toThrow('gave up');
    await stopped;
    expect(calls).toEqual(['start a', 'stop mongo', 'stop a']);
  });

  it('is ready only between the end of start and the beginning of stop, and names the parts that are not', async () => {
    const { part } = recorder();
    let reachable = false;
    const ready = async () => {
      if (!reachable) throw new Error('no primary');
    };
    const all = createLifecycle([part('http'), part('mongo', { ready })], logger, { name: 'keys' });
    await expect(all.ready?.()).rejects.toThrow('keys is starting');
    await all.start();
    await expect(all.ready?.()).rejects.toThrow('mongo: no primary');
    reachable = true;
    await expect(all.ready?.()).resolves.toBeUndefined();
    const stopped = all.stop();
    await expect(all.ready?.()).rejects.toThrow('keys is stopping');
    await stopped;
  });

  it('announces a stop to the parts of its parts, is not ready any more, and stops none before the delay', async () => {
    const { calls, part } = recorder();
    const inner = createLifecycle([part('a', { drain: () => void calls.push('drain a') })], logger, { name: 'inner' });
    const all = createLifecycle([inner, part('b')], logger, { drainDelayMs: 20 });
    await all.start();
    const stopped = all.stop();
    expect(calls).toEqual(['start a', 'start b', 'drain a']);
    await expect(inner.ready?.()).rejects.toThrow('inner is draining');
    await stopped;
    expect(calls.slice(3)).toEqual(['stop b', 'stop a']);
  });
});
