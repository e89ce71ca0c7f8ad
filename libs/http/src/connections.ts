import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { CountRefusal } from './refusals.ts';

export interface ConnectionsOptions {
  maxConnections: number;
  /** Most bytes of answers that all clients together may leave unread. */
  unreadBudgetBytes: number;
  countRefusal: CountRefusal;
}

/** The open connections of a server. */
export interface Connections {
  readonly count: number;
  /** Bytes of answers that are buffered here until clients read. */
  readonly unreadBytes: number;
  /**
   * Adds a new connection. At the maximum, it closes the connection that has waited longest for a request or for the
   * rest of one. If all connections are being answered, it closes the new one.
   */
  open(socket: Socket): void;
  /**
   * Calls `handle` when it is the request's turn. The requests of a connection are answered one at a time, so that
   * pipelining has one request in flight. A connection with more than {@link MAX_SENT_AHEAD} waiting requests is
   * closed, and abandoned.
   */
  take(req: IncomingMessage, res: ServerResponse, handle: () => void): void;
  /** Whether the further requests in what was read from the connection are not worth parsing. */
  isAbandoned(socket: Socket): boolean;
  /** The request whose turn it is on the connection, if its body has not arrived completely. */
  arrivingOn(socket: Socket): IncomingMessage | undefined;
  /** Whether an answer on the connection has started and not ended. */
  isAnswering(socket: Socket): boolean;
  /**
   * Keeps unread answers within their budget. Must be called regularly. The address with most unread bytes loses the
   * connection that has not read for longest.
   */
  limitUnread(): void;
  /** The answers to the requests in flight. */
  answers(): ServerResponse[];
}

/**
 * Requests that may wait behind another one on a connection. Each takes a hundred times the memory of its shortest
 * text, and hardly any client pipelines.
 */
export const MAX_SENT_AHEAD = 2;

interface Connection {
  inFlight: IncomingMessage | null;
  /** The answer to the request in flight. */
  answer: ServerResponse | null;
  /** Number of requests that wait for their turn. */
  sentAhead: number;
  /** Unread bytes at the last look, and the first look that found that many. */
  unreadBytes: number;
  unreadSince: number;
}

/** An address with unread answers. */
interface Sender {
  /** The connection that has not read for longest comes last. */
  waiting: [Socket, Connection][];
  bytes: number;
}

/** Between equal amounts, the sender whose connection has not read for longer. */
function leavesMore(one: Sender, other: Sender): boolean {
  if (one.bytes !== other.bytes) return one.bytes > other.bytes;
  const [since, otherSince] = [one, other].map(({ waiting }) => waiting.at(-1)?.[1].unreadSince ?? Infinity);
  return since! < otherSince!;
}

/** Notes the unread bytes of each connection. Returns the senders of those that have any, with their sums. */
function lookForUnread(connections: ReadonlyMap<Socket, Connection>, look: number) {
  let bytes = 0;
  const unread: [Socket, Connection][] = [];
  for (const entry of connections) {
    const [{ writableLength }, connection] = entry;
    if (writableLength !== connection.unreadBytes) {
      connection.unreadBytes = writableLength;
      connection.unreadSince = look;
    }
    if (writableLength === 0) continue;
    bytes += writableLength;
    unread.push(entry);
  }
  return { bytes, unread };
}

/** The connections to close to reduce unread bytes by `excessBytes`. */
function leavingMost(unread: readonly [Socket, Connection][], excessBytes: number): Socket[] {
  const byAddress = Map.groupBy(unread, ([socket]) => socket.remoteAddress);
  const senders: Sender[] = [...byAddress.values()].map((ofAddress) => ({
    waiting: ofAddress.sort(([, a], [, b]) => b.unreadSince - a.unreadSince),
    bytes: ofAddress.reduce((sum, [, { unreadBytes }]) => sum + unreadBytes, 0),
  }));
  const sockets: Socket[] = [];
  for (let excess = excessBytes; excess > 0;) {
    const most = senders.reduce((a, b) => (leavesMore(b, a) ? b : a));
    const [socket, { unreadBytes }] = most.waiting.pop()!;
    most.bytes -= unreadBytes;
    excess -= unreadBytes;
    sockets.push(socket);
  }
  return sockets;
}

function arriving(request: IncomingMessage | null | undefined): IncomingMessage | undefined {
  return request?.complete === false ? request : undefined;
}

export function createConnections(options: ConnectionsOptions): Connections {
  const { maxConnections, unreadBudgetBytes, countRefusal } = options;
  /** Ordered by last answer or, without one, by start; the oldest comes first. */
  const connections = new Map<Socket, Connection>();
  const abandoned = new WeakSet<Socket>();
  let looks = 0;

  function close(socket: Socket): void {
    connections.delete(socket);
    socket.destroy();
  }

  function makeRoom(): boolean {
    for (const [socket, { inFlight }] of connections) {
      if (inFlight?.complete === true) continue;
      close(socket);
      return true;
    }
    return false;
  }

  function begin(connection: Connection, req: IncomingMessage, res: ServerResponse, handle: () => void): void {
    const { socket } = req;
    // A connection that closes after an answer, or after one that says that its text is no HTTP, still gives the next
    // request its turn. Nobody waits for it.
    if (socket.destroyed || socket.writableEnded) return;
    connection.inFlight = req;
    connection.answer = res;
    res.once('close', () => {
      // A pipelined request gets its turn before this connection is closed.
      if (connection.answer === res) {
        connection.inFlight = null;
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
    get unreadBytes() {
      let sum = 0;
      for (const socket of connections.keys()) sum += socket.writableLength;
      return sum;
    },
    open(socket) {
      if (connections.size >= maxConnections) {
        countRefusal('connection_limit');
        if (!makeRoom()) return void socket.destroy();
      }
      connections.set(socket, { inFlight: null, answer: null, sentAhead: 0, unreadBytes: 0, unreadSince: 0 });
      socket.once('close', () => connections.delete(socket));
    },
    answers: () => [...connections.values()].flatMap(({ answer }) => answer ?? []),
    isAbandoned: (socket) => abandoned.has(socket),
    arrivingOn: (socket) => arriving(connections.get(socket)?.inFlight),
    isAnswering: (socket) => connections.get(socket)?.answer?.headersSent === true,
    limitUnread() {
      looks += 1;
      const { bytes, unread } = lookForUnread(connections, looks);
      if (bytes <= unreadBudgetBytes) return;
      for (const socket of leavingMost(unread, bytes - unreadBudgetBytes)) {
        countRefusal('unread_budget');
        close(socket);
      }
    },
    take(req, res, handle) {
      const connection = connections.get(req.socket);
      // The connection is already closed.
      if (connection === undefined) return;
      const beginNow = () => begin(connection, req, res, handle);
      // Once all that has arrived is parsed, since too many requests behind this one close the connection.
      if (res.socket !== null) return queueMicrotask(beginNow);
      connection.sentAhead += 1;
      if (connection.sentAhead > MAX_SENT_AHEAD) {
        countRefusal('pipeline_limit');
        abandoned.add(req.socket);
        return close(req.socket);
      }
      // Emitted once the system has taken the previous answer. Reading continues meanwhile, to notice if the client
      // leaves.
      res.once('socket', () => {
        connection.sentAhead -= 1;
        beginNow();
      });
    },
  };
}
