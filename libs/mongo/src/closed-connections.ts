import type { Socket } from 'node:net';
// @ts-expect-error: The package has no types of its inner modules.
import { Connection } from 'mongodb/lib/cmap/connection.js';

/** A connection of the driver, as far as it matters here. */
interface DriverConnection {
  readonly socket: Socket;
  /** Called when the connection fails, when it is given up, and when its socket says `close`. */
  cleanup(error?: Error): void;
}

/**
 * Lets a command fail that the driver sends over a connection that is about to be closed.
 *
 * A socket that is destroyed takes no command any more, and the driver waits for `drain` then, which never comes. Until
 * the socket says `close`, the pool still gives the connection out. So each time when a primary dies, a command may be
 * caught and neither resolve nor reject indefinitely (mongodb 7.9 and before). With a `drain` after the end of the
 * connection, the driver sees that it is closed, and tries again elsewhere as after any other network error.
 */
export function wakeCommandsOfClosedConnections(): void {
  const { prototype } = Connection as { prototype: DriverConnection };
  const { cleanup } = prototype;
  prototype.cleanup = function (error) {
    cleanup.call(this, error);
    this.socket.emit('drain');
  };
}
