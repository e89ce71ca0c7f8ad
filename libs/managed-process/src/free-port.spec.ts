import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { freePort, isFree } from './free-port.ts';

const MODULE = new URL('./free-port.ts', import.meta.url).href;
/** More than one block. */
const PORTS = 150;

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** Another process that gets ports, sends them and runs `then`. */
function startAsking(then: string): ChildProcess {
  const script = `
    const { freePort } = await import(${JSON.stringify(MODULE)});
    const ports = [];
    while (ports.length < ${PORTS}) ports.push(await freePort());
    process.send(ports);
    ${then}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  children.push(child);
  return child;
}

describe('a free port', () => {
  it('is given once, here and in other processes, also while nothing listens on it yet', async () => {
    const here = Promise.all(Array.from({ length: PORTS }, () => freePort()));
    const elsewhere = [1, 2, 3].map(async () => {
      const [ports] = (await once(startAsking('setInterval(() => undefined, 1_000);'), 'message')) as [number[]];
      return ports;
    });
    const ports = (await Promise.all([here, ...elsewhere])).flat();
    expect(ports).toHaveLength(4 * PORTS);
    expect(new Set(ports).size).toBe(4 * PORTS);
  });

  it('is none that somebody listens on', async () => {
    const next = (await freePort()) + 1;
    const server = createServer();
    await new Promise<void>((listening) => server.listen(next, '127.0.0.1', listening));
    expect(await isFree(next)).toBe(false);
    expect(await freePort()).not.toBe(next);
    await new Promise((closed) => server.close(closed));
  });

  it('lets the process end that was given one', async () => {
    const child = startAsking('process.disconnect();');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
