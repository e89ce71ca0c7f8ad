import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { CountRefusal } from './refusals.ts';

export interface ConnectionsOptions {
  maxConnections: number;
  countRefusal: CountRefusal;
}

/** The open connections of a server. */
export interface Connections {
  readonly count: number;
  /**
   * Adds a new connection. If the most connections are open already, it closes the one that has waited longest for a
   * request or for the rest of one. If all are being answered, it closes the new one.
   */
  open(socket: Socket): void;
  /**
   * Calls `handle` when it is the request's turn. The requests of one connection are answered one after the other, so
   * that pipelining has one request under way. A connection with more than {@link MAX_SENT_AHEAD} waiting requests is
   * closed.
   */
  take(req: IncomingMessage, res: ServerResponse, handle: () => void): void;
  /** Whether an answer has begun on the connection and is not over. */
  isAnswering(socket: Socket): boolean;
  /** The answers to the requests under way. */
  answers(): ServerResponse[];
}

/**
 * Requests that may wait behind another on one connection: each takes a hundred times the memory of its shortest text.
 */
export const MAX_SENT_AHEAD = 32;

interface Connection {
  underWay: IncomingMessage | null;
  /** To the request under way. */
  answer: ServerResponse | null;
  sentAhead: number;
}

export function createConnections({ maxConnections, countRefusal }: ConnectionsOptions): Connections {
  /** The one whose last answer, or whose beginning, is longest ago first. */
  const connections = new Map<Socket, Connection>();

  function makeRoom(): boolean {
    for (const [socket, { underWay }] of connections) {
      if (underWay?.complete === true) continue;
      connections.delete(socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  function begin(connection: Connection, req: IncomingMessage, res: ServerResponse, handle: () => void): void {
    const { socket } = req;
    connection.underWay = req;
    connection.answer = res;
    res.once('close', () => {
      // A request that was sent ahead has its turn before this one is closed.
      if (connection.answer === res) {
        connection.underWay = null;
        connection.answer = null;
      }
      if (connections.delete(socket)) connections.set(socket, connection);
    });
    handle();
  }

  return {
    get count() {
      return connections.size;
    },
    open(socket) {
      if (connections.size >= maxConnections) {
        countRefusal('connection_limit');
        if (!makeRoom()) return void socket.destroy();
      }
      connections.set(socket, { underWay: null, answer: null, sentAhead: 0 });
      socket.once('close', () => connections.delete(socket));
    },
    answers: () => [...connections.values()].flatMap(({ answer }) => answer ?? []),
    isAnswering: (socket) => connections.get(socket)?.answer?.headersSent === true,
    take(req, res, handle) {
      const connection = connections.get(req.socket);
      // Closed already, with requests left in what was read from it.
      if (connection === undefined) return;
      if (res.socket !== null) return begin(connection, req, res, handle);
      connection.sentAhead += 1;
      if (connection.sentAhead > MAX_SENT_AHEAD) {
        countRefusal('pipeline_limit');
        connections.delete(req.socket);
        req.socket.destroy();
        return;
      }
      res.once('socket', () => {
        connection.sentAhead -= 1;
        begin(connection, req, res, handle);
      });
    },
  };
}
