import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { type AddressInfo, Socket, connect, createServer } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createMetrics } from '@tollkeeper/runtime';
import { eventually } from '@tollkeeper/testing';
import { MAX_SENT_AHEAD, createConnections } from '../src/connections.ts';
import { createHttpListener } from '../src/index.ts';
import type { HttpListener, RefusalReason } from '../src/index.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
let server: HttpListener | undefined;
let refused: RefusalReason[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.stop();
});

async function start(listener: RequestListener, maxConnections?: number): Promise<string> {
  refused = [];
  server = createHttpListener({
    name: 'test',
    host: '127.0.0.1',
    port: 0,
    listener,
    metrics: createMetrics('test'),
    countRefusal: (reason) => refused.push(reason),
    ...(maxConnections !== undefined && { maxConnections }),
  });
  await server.start();
  return server.url;
}

async function open(url: string, text = ''): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
  sockets.push(socket.resume());
  await once(socket, 'connect');
  if (text !== '') socket.write(text);
  return socket;
}

describe('when as many connections are open as may be', () => {
  it.each([
    ['that send nothing', ''],
    ['that send a part of a head', 'GET / HTTP/1.1\r\nHost: a\r\nX-Slow: '],
    ['that send a part of a body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx'],
    ['that have been answered', GET],
  ])('those %s give way, the longest waiting first', async (_name, text) => {
    const url = await start((req, res) => void req.resume().on('end', () => res.end()), 3);
    const first = await open(url, text);
    const second = await open(url, text);
    await open(url, text);
    const closed = once(first, 'close');
    expect((await fetch(url, { headers: { connection: 'close' } })).status).toBe(200);
    await closed;
    expect(second.closed).toBe(false);
    expect(refused).toEqual(['connection_limit']);
  });

  it('those whose requests are being answered stay, and new ones are closed', async () => {
    const answers: (() => void)[] = [];
    const url = await start((_req, res) => void answers.push(() => res.end('done')), 2);
    const asked = [fetch(url), fetch(url)];
    await eventually(() => expect(answers).toHaveLength(2));
    await expect(fetch(url)).rejects.toThrow();
    expect(refused).toEqual(['connection_limit']);
    for (const answer of answers) answer();
    expect(await Promise.all(asked.map(async (each) => (await each).text()))).toEqual(['done', 'done']);
  });
});

describe('a place among the connections', () => {
  const setUp = () => {
    const refusals: RefusalReason[] = [];
    const connections = createConnections({
      maxConnections: 2,
      unreadBudgetBytes: 1024,
      countRefusal: (reason) => refusals.push(reason),
    });
    const open = () => {
      const socket = new Socket();
      connections.open(socket);
      return socket;
    };
    return { connections, open, refusals };
  };

  it('is free at once when its connection gives way: as many that come together each get one', () => {
    const { connections, open, refusals } = setUp();
    const sockets = [open(), open(), open(), open()];
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, true, false, false]);
    expect([connections.count, refusals]).toEqual([2, ['connection_limit', 'connection_limit']]);
  });

  it('is free when its connection has closed', async () => {
    const { connections, open, refusals } = setUp();
    const sockets = [open(), open()];
    await Promise.all(sockets.map((socket) => once(socket.destroy(), 'close')));
    expect(connections.count).toBe(0);
    open();
    open();
    expect([connections.count, refusals]).toEqual([2, []]);
  });

  it('is free when a client disconnects before it is answered', async () => {
    let begun = 0;
    let over = 0;
    const url = await start((_req, res) => {
      begun += 1;
      res.once('close', () => (over += 1));
    }, 2);
    for (let client = 1; client <= 4; client += 1) {
      const socket = await open(url, GET);
      await eventually(() => expect(begun).toBe(client));
      socket.destroy();
      await eventually(() => expect(over).toBe(client));
    }
    expect(refused).toEqual([]);
  });

  it('is kept longest by the connection that was answered last, not by the one that began last', async () => {
    const url = await start((req, res) => void req.resume().on('end', () => res.end('done')), 2);
    const first = await open(url);
    const second = await open(url);
    const answered = once(first, 'data');
    first.write(GET);
    await answered;
    const closed = once(second, 'close');
    await open(url);
    await closed;
    expect(first.closed).toBe(false);
  });
});

describe('requests sent ahead on one connection', () => {
  it('are handled one after the other', async () => {
    const answers: (() => void)[] = [];
    const url = await start((_req, res) => void answers.push(() => res.end('done')));
    const socket = await open(url, GET.repeat(3));
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    for (let handled = 1; handled <= 3; handled += 1) {
      await eventually(() => expect(answers).toHaveLength(handled));
      answers.at(-1)?.();
    }
    await eventually(() => expect(text.match(/done/g)).toHaveLength(3));
  });

  it('are never handled when the connection closes before, and leave nothing in progress', async () => {
    let handled = 0;
    let over = 0;
    const url = await start((_req, res) => {
      handled += 1;
      res.once('close', () => (over += 1));
    });
    const socket = await open(url, GET.repeat(1 + MAX_SENT_AHEAD));
    await eventually(() => expect(handled).toBe(1));
    socket.destroy();
    await eventually(() => expect(over).toBe(1));
    expect(handled).toBe(1);
  });

  it('are all answered when they are as many as may be, again and again', async () => {
    const url = await start((_req, res) => void setImmediate(() => res.end('done')));
    const socket = await open(url);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    for (let round = 1; round <= 2; round += 1) {
      socket.write(GET.repeat(1 + MAX_SENT_AHEAD));
      await eventually(() => expect(text.match(/done/g)).toHaveLength(round * (1 + MAX_SENT_AHEAD)));
    }
    expect(refused).toEqual([]);
  });

  /**
   * Sends two pipelined requests, answers the first and starts the second, and returns what the client receives from
   * then on.
   */
  async function secondTurn() {
    const turns: ServerResponse[] = [];
    let closed = false;
    const url = await start((_req, res) => {
      if (turns.length === 0) res.once('close', () => (closed = true));
      turns.push(res);
    });
    const socket = await open(url, GET.repeat(2));
    await eventually(() => expect(turns).toHaveLength(1));
    turns[0]?.end();
    await eventually(() => expect([turns.length, closed]).toEqual([2, true]));
    const got = { text: '' };
    socket.on('data', (chunk: Buffer) => (got.text += chunk.toString()));
    return { socket, got, answer: turns[1]! };
  }

  it('learn that their connection ends when the server drains during their turn', async () => {
    const { got, answer } = await secondTurn();
    server?.drain?.();
    answer.end('second');
    await eventually(() => expect(got.text).toMatch(/second$/));
    expect(got.text.toLowerCase()).toContain('connection: close\r\n');
  });

  it('get no other answer in the midst of their own', async () => {
    const { socket, got, answer } = await secondTurn();
    answer.write('second');
    await eventually(() => expect(got.text).toContain('second'));
    const closed = once(socket, 'close');
    socket.write('this is not HTTP\r\n\r\n');
    await closed;
    expect(got.text).not.toContain('HTTP/1.1 400');
  });

  it.each([1, 30])('cut their connection off, once, when they are %d more', async (more) => {
    const url = await start(() => undefined);
    const socket = await open(url, GET.repeat(1 + MAX_SENT_AHEAD + more));
    await once(socket, 'close');
    expect(refused).toEqual(['pipeline_limit']);
  });

  it('are not even parsed behind the one that cuts the connection off, and the answer in progress is over', async () => {
    let parsed = 0;
    const count = () => (parsed += 1);
    subscribe('http.server.request.start', count);
    const answers = { begun: 0, over: 0 };
    const url = await start((_req, res) => {
      answers.begun += 1;
      res.once('close', () => (answers.over += 1));
    });
    const socket = await open(url, GET);
    await eventually(() => expect(answers.begun).toBe(1));
    socket.write(GET.repeat(29));
    await once(socket, 'close');
    await eventually(() => expect(answers).toEqual({ begun: 1, over: 1 }));
    unsubscribe('http.server.request.start', count);
    expect(parsed).toBe(2 + MAX_SENT_AHEAD);
  });

  it('are not handled, and neither is the one before them, when too many arrive together', async () => {
    let handled = 0;
    const url = await start((_req, res) => {
      handled += 1;
      res.end();
    });
    const greedy = await open(url, GET.repeat(2 + MAX_SENT_AHEAD));
    await once(greedy, 'close');
    expect((await fetch(url)).status).toBe(200);
    expect(handled).toBe(1);
  });
});

it('of addresses that leave equally much unread, the one that has read nothing for longest gives way', async () => {
  const gaveWay: RefusalReason[] = [];
  // More than the buffers of the system hold.
  const large = Buffer.alloc(12 * 1024 * 1024, 'x');
  const connections = createConnections({
    maxConnections: 3,
    unreadBudgetBytes: 2.5 * large.length,
    countRefusal: (reason) => gaveWay.push(reason),
  });
  const listening = createServer((socket) => connections.open(socket)).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  const accept = async (localAddress: string): Promise<Socket> => {
    sockets.push(
      connect({ port, host: '127.0.0.1', localAddress })
        .on('error', () => undefined)
        .pause(),
    );
    const [socket] = (await once(listening, 'connection')) as [Socket];
    return socket.on('error', () => undefined);
  };
  const first = await accept('127.0.0.2');
  const longest = await accept('127.0.0.3');
  const last = await accept('127.0.0.4');
  longest.write(large);
  connections.limitUnread();
  for (const socket of [first, last]) socket.write(large);
  connections.limitUnread();
  expect([first, longest, last].map(({ destroyed }) => destroyed)).toEqual([false, true, false]);
  expect(gaveWay).toEqual(['unread_budget']);
  for (const socket of [first, last]) socket.destroy();
  listening.close();
});
