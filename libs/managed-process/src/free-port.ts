import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/**
 * Below the ports that systems give to outgoing connections: a server that is started again on its port finds it free,
 * however many connections the machine has opened meanwhile.
 */
const FIRST = 20_000;
const LAST = 32_000;
/**
 * Each process takes its ports from blocks of its own. It listens on the first port of a block to tell the others so.
 */
const BLOCK = 100;
const BLOCKS = (LAST - FIRST) / BLOCK;

const ports = freePorts();

/**
 * A port of loopback that nobody listens on. It is given once, here and in all processes that ask this function: from
 * the asking to the listening seconds may pass.
 */
export async function freePort(): Promise<number> {
  const { value: port } = await ports.next();
  if (port !== undefined) return port;
  throw new Error(`There is no free port between ${FIRST} and ${LAST}. Stop some of what listens there.`);
}

async function* freePorts(): AsyncGenerator<number, undefined> {
  const start = randomInt(BLOCKS);
  for (let number = 0; number < BLOCKS; number += 1) {
    const first = FIRST + ((start + number) % BLOCKS) * BLOCK;
    const sign = await listen(first);
    if (sign === null) continue;
    // It stands as long as the process lives, and does not keep it alive.
    sign.unref();
    for (let port = first + 1; port < first + BLOCK; port += 1) if (await isFree(port)) yield port;
  }
}

/** Whether a server could listen on that port of loopback now. */
export async function isFree(port: number): Promise<boolean> {
  const server = await listen(port);
  if (server === null) return false;
  await new Promise((closed) => server.close(closed));
  return true;
}

/** Null where somebody else has the port. */
function listen(port: number): Promise<Server | null> {
  return new Promise((settle) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => settle(null));
    server.listen(port, '127.0.0.1', () => settle(server));
  });
}
