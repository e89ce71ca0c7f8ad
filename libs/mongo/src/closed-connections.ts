import { Connection } from 'mongodb/lib/cmap/connection.js';

/**
 * Lets a command fail that the driver sends over a connection that is about to be closed.
 *
 * A socket that is destroyed takes no command any more, and the driver waits for `drain` then, which never comes. Until
 * the socket says `close`, the pool still gives the connection out. So each time when a primary dies, a command may be
 * caught and neither resolve nor reject for ever (mongodb 7.9 and before). With a `drain` after the end of the
 * connection, the driver sees that it is closed, and tries again elsewhere as after any other network error.
 */
export function wakeCommandsOfClosedConnections(): void {
  const { cleanup } = Connection.prototype;
  Connection.prototype.cleanup = function (error) {
    cleanup.call(this, error);
    this.socket.emit('drain');
  };
}
