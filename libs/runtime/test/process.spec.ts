import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';

const fixture = join(import.meta.dirname, 'service.fixture.ts');
let child: ChildProcess | undefined;

function run(env: Record<string, string>) {
  let output = '';
  const waiting: { pattern: RegExp; resolve: (match: RegExpExecArray) => void }[] = [];
  const started = spawn(process.execPath, [fixture], {
    env: { ...process.env, HOST: '127.0.0.1', OPS_PORT: '0', ...env },
  });
  child = started;
  const read = (chunk: Buffer) => {
    output += chunk.toString();
    for (const { pattern, resolve } of waiting) {
      const match = pattern.exec(output);
      if (match) resolve(match);
    }
  };
  started.stdout.on('data', read);
  started.stderr.on('data', read);
  return {
    signal: (name: NodeJS.Signals) => started.kill(name),
    /** Closes the pipe of its log, as the death of the reader does. */
    stopReading: () => started.stdout.destroy(),
    exitCode: once(started, 'close').then(([code]) => code as number | null),
    output: () => output,
    seen: (pattern: RegExp) =>
      new Promise<RegExpExecArray>((resolve) => {
        waiting.push({ pattern, resolve });
        read(Buffer.of());
      }),
  };
}

afterEach(() => void child?.kill('SIGKILL'));

describe('a service process', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('finishes the request in flight on %s and exits with 0', async (signal) => {
    const service = run({ MODE: 'good' });
    const [, port] = await service.seen(/port (\d+)/);
    await service.seen(/fixture is ready/);
    const answer = fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } });
    await service.seen(/request\n/);
    service.signal(signal);
    await expect((await answer).text()).resolves.toBe('finished');
    await expect(service.exitCode).resolves.toBe(0);
    expect(service.output()).toContain('fixture has stopped');
  });

  it('ends in time when no one reads its log any more', async () => {
    const service = run({ MODE: 'good' });
    await service.seen(/fixture is ready/);
    service.stopReading();
    service.signal('SIGTERM');
    await expect(service.exitCode).resolves.toBe(0);
  });

  it('says in its first line which version of it starts', async () => {
    const service = run({ MODE: 'good' });
    await service.seen(/"version":"1\.2\.3","msg":"fixture is starting"/);
    await service.seen(/fixture is ready/);
    service.signal('SIGTERM');
    await expect(service.exitCode).resolves.toBe(0);
  });

  it('exits with 1 when the drain takes too long', async () => {
    const service = run({ MODE: 'hang' });
    await service.seen(/fixture is ready/);
    service.signal('SIGTERM');
    await expect(service.exitCode).resolves.toBe(1);
    expect(service.output()).toContain('did not drain within 200 ms');
  });

  it('exits with 1 at a second signal', async () => {
    const service = run({ MODE: 'hang', DRAIN_DELAY_MS: '60000' });
    await service.seen(/fixture is ready/);
    service.signal('SIGTERM');
    await service.seen(/is draining/);
    service.signal('SIGTERM');
    await expect(service.exitCode).resolves.toBe(1);
    expect(service.output()).toContain('second signal');
  });

  it('logs an unhandled rejection and exits with 1', async () => {
    const service = run({ MODE: 'reject' });
    await expect(service.exitCode).resolves.toBe(1);
    expect(service.output()).toMatch(/"level":"fatal".*"message":"lost"/);
  });

  it('logs why it could not start and exits with 1', async () => {
    const service = run({ MODE: 'fail' });
    await expect(service.exitCode).resolves.toBe(1);
    expect(service.output()).toMatch(/"message":"the port is taken".*fixture could not start/);
  });

  it('prints every problem of its environment, without a stack, and exits with 1', async () => {
    const service = run({ MODE: 'odd', OPS_PORT: 'x' });
    await expect(service.exitCode).resolves.toBe(1);
    expect(service.output()).toMatch(/OPS_PORT: must be a whole number.*\n {2}MODE: /);
    expect(service.output()).not.toContain('    at ');
  });
});
