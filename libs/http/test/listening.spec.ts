import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import { listen, LISTENERS } from '../src/listening.ts';

const HOST = '127.0.0.1';
const CONNECTIONS = 16 * LISTENERS;

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

it('a burst of connections is accepted in a few turns of the event loop', async () => {
  const server = createServer();
  let accepted = 0;
  server.on('connection', () => void (accepted += 1));
  const { close } = await listen(server, { port: 0, host: HOST, allowHalfOpen: true });
  const { port } = server.address() as AddressInfo;
  cleanUps.push(close);
  for (let nth = 0; nth < CONNECTIONS; nth += 1) {
    const client = connect(port, HOST);
    cleanUps.push(() => client.destroy());
  }
  let turns = 0;
  for (; accepted < CONNECTIONS; turns += 1) await nextTurn();
  // The system spreads them unevenly.
  expect(turns).toBeLessThan((4 * CONNECTIONS) / LISTENERS);
});

it('a port that another server has is refused, though its sockets could share it', async () => {
  const first = createServer();
  const { close } = await listen(first, { port: 0, host: HOST, allowHalfOpen: true });
  const { port } = first.address() as AddressInfo;
  await expect(listen(createServer(), { port, host: HOST, allowHalfOpen: true })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
  await close();
  await (await listen(createServer(), { port, host: HOST, allowHalfOpen: true })).close();
});

it('a closed server accepts nothing on any of its sockets', async () => {
  const server = createServer();
  const { close } = await listen(server, { port: 0, host: HOST, allowHalfOpen: true });
  const { port } = server.address() as AddressInfo;
  await close();
  const refusals = Array.from(
    { length: CONNECTIONS },
    () => new Promise((resolve) => connect(port, HOST).once('error', resolve)),
  );
  for (const refusal of await Promise.all(refusals)) expect(refusal).toMatchObject({ code: 'ECONNREFUSED' });
});
