import { createServer } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { BEGIN_AT_ONCE, beginInTurns } from '../src/new-connections.ts';

/** A server that notes the addresses of the connections that it begins, in order. */
function arrange() {
  const begun: string[] = [];
  const server = createServer();
  server.removeAllListeners('connection');
  server.on('connection', ({ remoteAddress }: Socket) => void begun.push(remoteAddress ?? ''));
  beginInTurns(server);
  const connect = (address: string, count = 1): Socket[] =>
    Array.from({ length: count }, () => {
      const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: address });
      server.emit('connection', socket);
      return socket;
    });
  return { begun, connect };
}

it('a burst of new connections begins a few in each turn of the event loop', async () => {
  const { begun, connect } = arrange();
  connect('10.0.0.1', 2 * BEGIN_AT_ONCE + 1);
  const counts = [begun.length];
  for (let turn = 0; turn < 4; turn += 1) {
    await nextTurn();
    counts.push(begun.length);
  }
  expect(counts).toEqual([0, BEGIN_AT_ONCE, 2 * BEGIN_AT_ONCE, 2 * BEGIN_AT_ONCE + 1, 2 * BEGIN_AT_ONCE + 1]);
});

it('a connection of another address begins before the rest of a burst', async () => {
  const { begun, connect } = arrange();
  connect('10.0.0.1', 100);
  connect('10.0.0.2');
  await nextTurn();
  expect(begun.slice(0, 3)).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.1']);
});

it('connections that are closed before their turn take no turn of others', async () => {
  const { begun, connect } = arrange();
  for (const socket of connect('10.0.0.1', 5 * BEGIN_AT_ONCE)) socket.destroy();
  connect('10.0.0.1', BEGIN_AT_ONCE);
  await nextTurn();
  expect(begun).toHaveLength(BEGIN_AT_ONCE);
});

it('a client that leaves before its turn harms nobody', async () => {
  const { begun, connect } = arrange();
  const [leaving] = connect('10.0.0.1');
  connect('10.0.0.2');
  leaving!.destroy(new Error('ECONNRESET'));
  await nextTurn();
  expect(begun).toEqual(['10.0.0.2']);
});
