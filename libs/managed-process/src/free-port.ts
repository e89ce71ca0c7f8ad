import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/**
 * Below the ports that systems use for outgoing connections: a server that restarts on its port finds it free, however
 * many connections the machine has opened meanwhile.
 */
const FIRST = 20_000;
const LAST = 32_000;
/** Each process takes its ports from its own blocks, and listens on the first port of a block to reserve it. */
const BLOCK = 100;
const BLOCKS = (LAST - FIRST) / BLOCK;

const ports = freePorts();

/**
 * A free port on loopback. No process that calls this function gets the same port again, because seconds may pass
 * before the caller listens on it.
 */
export async function freePort(): Promise<number> {
  const { value: port } = await ports.next();
  if (port !== undefined) return port;
  throw new Error(`No port between ${FIRST} and ${LAST} is free. Stop a program that listens there.`);
}

async function* freePorts(): AsyncGenerator<number, undefined> {
  const start = randomInt(BLOCKS);
  for (let number = 0; number < BLOCKS; number += 1) {
    const first = FIRST + ((start + number) % BLOCKS) * BLOCK;
    const sign = await listen(first);
    if (sign === null) continue;
    // The reservation lasts as long as the process, but does not keep it alive.
    sign.unref();
    for (let port = first + 1; port < first + BLOCK; port += 1) if (await isFree(port)) yield port;
  }
}

/** Whether a server could listen on this port of loopback now. */
export async function isFree(port: number): Promise<boolean> {
  const server = await listen(port);
  if (server === null) return false;
  await new Promise((closed) => server.close(closed));
  return true;
}

/** Null if another process has the port. */
function listen(port: number): Promise<Server | null> {
  return new Promise((settle) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => settle(null));
    server.listen(port, '127.0.0.1', () => settle(server));
  });
}
