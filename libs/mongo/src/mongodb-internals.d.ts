declare module 'mongodb/lib/cmap/connection.js' {
  import type { Socket } from 'node:net';

  /** What `closed-connections.ts` needs to know of the driver's connection, which the package does not export. */
  export class Connection {
    readonly socket: Socket;
    /** Called when the connection fails, when it is given up, and when its socket says `close`. */
    cleanup(error?: Error): void;
  }
}
