import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** In one turn of the event loop, so that a burst of new connections does not delay those that are open. */
export const BEGIN_AT_ONCE = 16;

/**
 * The server begins to read new connections a few at a time, and addresses take turns. Node begins all that wait to be
 * accepted at once, which takes a second for a few thousand.
 */
export function beginInTurns(server: Server): void {
  const begin = server.listeners('connection');
  server.removeAllListeners('connection');
  /** New connections by address, in the order of their turns. */
  const waiting = new Map<string | undefined, Socket[]>();

  function beginSome(): void {
    for (let begun = 0; begun < BEGIN_AT_ONCE;) {
      const [next] = waiting;
      if (next === undefined) return;
      const [address, sockets] = next;
      const socket = sockets.shift()!;
      waiting.delete(address);
      if (sockets.length > 0) waiting.set(address, sockets);
      socket.off('error', ignore);
      // Those that are closed for newer ones must not take the turns of others.
      if (socket.destroyed) continue;
      begun += 1;
      for (const listener of begin) Reflect.apply(listener, server, [socket]);
    }
    if (waiting.size > 0) setImmediate(beginSome);
  }

  server.on('connection', (socket: Socket) => {
    if (waiting.size === 0) setImmediate(beginSome);
    const ofAddress = waiting.get(socket.remoteAddress);
    if (ofAddress === undefined) waiting.set(socket.remoteAddress, [socket]);
    else ofAddress.push(socket);
    // A client that leaves before its turn.
    socket.on('error', ignore);
  });
}

function ignore(): void {}
