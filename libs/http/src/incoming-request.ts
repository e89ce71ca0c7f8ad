import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** What Node reads and writes as the `upgrade` of a request. It stays, whatever is written. */
const UPGRADE: PropertyDescriptor = { get: () => true, set() {} };

/**
 * The class of a server's requests. Node parses all requests of a chunk, even those behind one that closes the
 * connection; only behind an upgrade it stops, and closes the connection if nobody takes it. So the first request on
 * an abandoned connection counts as one.
 */
export function incomingRequestClass(isAbandoned: (socket: Socket) => boolean): typeof IncomingMessage {
  return class extends IncomingMessage {
    constructor(socket: Socket) {
      super(socket);
      if (isAbandoned(socket)) Object.defineProperty(this, 'upgrade', UPGRADE);
    }
  };
}
