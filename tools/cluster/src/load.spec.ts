import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startLoad } from './load.ts';
import { connect } from './product.client.ts';
import { waitFor } from './wait.ts';

const OWNER = { email: 'owner@example.com', password: 'secret' };

describe('the load on a cluster', () => {
  let server: Server;
  let url: string;
  /** Ids of events and settled reservations in the order of arrival; the first `refusals` of them are refused. */
  let ids: string[];
  let refusals: number;

  beforeEach(async () => {
    ids = [];
    refusals = 0;
    server = createServer((request, response) => {
      void text(request).then((body) => {
        const answer = (status: number, json: object) => response.writeHead(status).end(JSON.stringify(json));
        if (request.url === '/api/v1/auth/login') return answer(200, { workspaces: [{ id: 'ws_1', slug: 'demo' }] });
        if (request.method === 'POST' && request.url?.endsWith('/workspace-keys'))
          return answer(201, { api_key: 'key' });
        if (request.url === '/api/v1/reservations') {
          const { request_id: id } = JSON.parse(body) as { request_id: string };
          return answer(201, { reservation: { id } });
        }
        const [, settled] = /reservations\/(.*):settle$/.exec(request.url ?? '') ?? [];
        if (request.url !== '/api/v1/events' && settled === undefined) return answer(200, {});
        ids.push(settled ?? (JSON.parse(body) as { id: string }).id);
        return answer(ids.length <= refusals ? 503 : 202, {});
      });
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('sends a call that is refused again with its id until it is accepted, and counts it as one failure', async () => {
    refusals = 2;
    const load = startLoad(await connect(url, OWNER), 'agent');
    await waitFor('an event that was refused twice', 10_000, async () => (ids.length > 4 ? true : undefined));
    const accepted = await load.stop();

    expect(new Set(ids).size).toBe(accepted);
    expect(ids.length).toBe(accepted + refusals);
    const { failed } = load.take();
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.length).toBeLessThanOrEqual(refusals);
    expect(new Set(failed.map(({ what, status }) => `${what} ${status}`))).toEqual(
      new Set(['event 503', 'settlement 503']),
    );
  });

  it('reports each failure once', async () => {
    refusals = 1;
    const load = startLoad(await connect(url, OWNER), 'agent');
    await waitFor('an event that was refused', 10_000, async () => (ids.length > 1 ? true : undefined));
    await load.stop();
    expect(load.take().failed).toHaveLength(1);
    expect(load.take()).toEqual({ sent: 0, failed: [] });
  });
});
