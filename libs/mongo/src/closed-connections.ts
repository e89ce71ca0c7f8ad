import type { Socket } from 'node:net';
// @ts-expect-error: The package has no types of its inner modules.
import { Connection } from 'mongodb/lib/cmap/connection.js';

/** The relevant part of a driver's connection. */
interface DriverConnection {
  readonly socket: Socket;
  /** Called when the connection fails, when it is given up, and when its socket emits `close`. */
  cleanup(error?: Error): void;
}

/**
 * Makes commands fail that the driver sends over a closing connection.
 *
 * A destroyed socket accepts no commands, and the driver then waits for a `drain` that never comes. Until the socket
 * emits `close`, the pool still hands out the connection. So whenever a primary dies, a command may never resolve or
 * reject (mongodb 7.9 and before). With a `drain` after the end of the connection, the driver notices the end, and
 * retries elsewhere as after any other network error.
 */
export function wakeCommandsOfClosedConnections(): void {
  const { prototype } = Connection as { prototype: DriverConnection };
  const { cleanup } = prototype;
  prototype.cleanup = function (error) {
    cleanup.call(this, error);
    this.socket.emit('drain');
  };
}
