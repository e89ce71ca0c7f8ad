import { once } from 'node:events';
import { connect } from 'node:net';

/** One connection to Redis. Commands of the same turn of the event loop are pipelined. */
export interface RedisClient {
  /** Resolves to an answer without line breaks: a status, a number or a short string. */
  send(...command: string[]): Promise<string>;
  close(): void;
}

export async function connectRedis(port: number): Promise<RedisClient> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  await once(socket, 'connect');
  const waiting: { resolve: (answer: string) => void; reject: (error: Error) => void }[] = [];
  let unsent = '';
  let received = '';

  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (received + chunk).split('\r\n');
    received = lines.pop() ?? '';
    for (const line of lines) {
      // The length of a string, which is in the next line.
      if (line.startsWith('$')) continue;
      const next = waiting.shift();
      if (line.startsWith('-')) next?.reject(new Error(line.slice(1)));
      else next?.resolve(/^[+:]/.test(line) ? line.slice(1) : line);
    }
  });
  const fail = (error: Error): void => {
    for (const { reject } of waiting.splice(0)) reject(error);
  };
  socket.on('error', fail).on('close', () => fail(new Error('Redis has closed the connection')));

  return {
    send(...command) {
      if (unsent === '') {
        setImmediate(() => {
          socket.write(unsent);
          unsent = '';
        });
      }
      const parts = command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
      unsent += `*${command.length}\r\n${parts.join('')}`;
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    close: () => socket.destroy(),
  };
}
