import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Target } from '../target.ts';
import { EVENTS_PATH } from '../workspace.ts';
import { type Answers, type Attack, count, HELD_MS } from './attack.ts';

/** Connections that send or read too little. */
export const CONNECTION_ATTACKS: readonly Attack[] = [
  {
    name: '1,030 connections with a session, each of them with a byte of its body',
    strike: ({ target, workspace, session }, others) =>
      holdConnections(target, 1030, others, () =>
        partOfARequest({
          head: `POST ${workspace.path('/agents')} HTTP/1.1\r\nCookie: ${session.cookie ?? ''}`,
          type: 'application/json',
          bytes: 100,
          sent: '{',
        }),
      ),
  },
  {
    name: '1,050 connections to log in, from 21 addresses, each with a byte of its body',
    strike: ({ target }, others) =>
      holdConnections(target, 1050, others, () =>
        partOfARequest({
          head: 'POST /api/v1/auth/login HTTP/1.1',
          type: 'application/json',
          bytes: 100,
          sent: '{',
        }),
      ),
  },
  {
    name: '400 batches of 1 MB that lack their last byte',
    strike: ({ target, workspace }, others) =>
      holdConnections(target, 400, others, () =>
        partOfARequest({
          head: `POST ${EVENTS_PATH} HTTP/1.1\r\nAuthorization: Bearer ${workspace.apiKey}`,
          type: 'application/cloudevents-batch+json',
          bytes: 1_000_001,
          sent: ' '.repeat(1_000_000),
        }),
      ),
  },
  {
    name: '2,000 connections that ask for /openapi.json 20 times each, pipelined, and read nothing',
    strike: ({ target }, others) =>
      holdConnections(target, 2000, others, () => 'GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(20), {
        reads: false,
      }),
  },
];

interface PartOfARequest {
  /** Request line and headers, without the length of the body. */
  head: string;
  type: string;
  bytes: number;
  /** The part of the body that is sent. */
  sent: string;
}

const partOfARequest = ({ head, type, bytes, sent }: PartOfARequest): string =>
  `${head}\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\nContent-Length: ${bytes}\r\n\r\n${sent}`;

/**
 * Opens connections from 21 addresses that each send this. Holds them, while the server lets it, for {@link HELD_MS}
 * and until `others` is settled.
 */
async function holdConnections(
  target: Target,
  connections: number,
  others: Promise<unknown>,
  sent: () => string,
  { reads } = { reads: true },
): Promise<Answers> {
  const answers: Answers = new Map();
  const sockets: Socket[] = [];
  const { port } = new URL(target.baseUrl);
  const ended = Array.from({ length: connections }, (_, index) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: `127.0.0.${2 + (index % 21)}` });
    sockets.push(socket);
    socket.write(sent());
    return new Promise<void>((resolve) => {
      let answer: number | 'none' = 'none';
      socket.on('error', () => undefined);
      socket.once('close', () => {
        count(answers, answer);
        resolve();
      });
      if (!reads) return;
      socket.once('data', (chunk: Buffer) => (answer = Number(/^HTTP\/1\.1 (\d{3})/.exec(chunk.toString())?.[1])));
      socket.resume();
    });
  });
  await Promise.allSettled([others, delay(HELD_MS)]);
  for (const socket of sockets) socket.destroy();
  await Promise.all(ended);
  return answers;
}
