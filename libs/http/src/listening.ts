import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, ListenOptions, Server as NetServer } from 'node:net';

/**
 * Number of sockets that listen on the port. Node accepts one connection from each in a turn of the event loop. A turn
 * takes tens of milliseconds under load, so with one socket a client could wait seconds for its connection. Only Linux
 * spreads connections over the sockets of a port.
 */
export const LISTENERS = process.platform === 'linux' ? 16 : 1;

/** The sockets that accept the connections of a server. */
export interface Listening {
  /** Refuses new connections. Resolves when no connection is left. */
  close(): Promise<void>;
}

/**
 * Listens with {@link LISTENERS} sockets on one port, 0 for any. Rejects if the port is in use. `allowHalfOpen` as that
 * of the server.
 */
export async function listen(
  server: NetServer,
  { allowHalfOpen, ...options }: ListenOptions & { port: number; allowHalfOpen: boolean },
): Promise<Listening> {
  const reusePort = LISTENERS > 1;
  if (reusePort && options.port !== 0) await requireFree(options);
  await open(server, { ...options, reusePort });
  const { port } = server.address() as AddressInfo;
  const others = Array.from({ length: LISTENERS - 1 }, () => createServer({ allowHalfOpen, noDelay: true }));
  for (const other of others) {
    other.on('connection', (socket) => server.emit('connection', socket));
    await open(other, { ...options, port, reusePort });
  }
  return { close: async () => void (await Promise.all([server, ...others].map(close))) };
}

/** Otherwise a second process on this port would get a part of the connections, and nobody would notice. */
async function requireFree(options: ListenOptions): Promise<void> {
  const probe = createServer();
  await open(probe, options);
  await close(probe);
}

async function open(server: NetServer, options: ListenOptions): Promise<void> {
  server.listen(options);
  await once(server, 'listening');
}

function close(server: NetServer): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()));
}
