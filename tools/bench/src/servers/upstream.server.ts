import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { announce } from './announce.ts';

// The service behind every proxy: minimal work, and an answer about as long as that of `/spend`.
const body = JSON.stringify({
  window: {
    kind: 'current_month',
    start: '2026-11-01T00:00:00.000Z',
    end: '2026-11-21T18:00:00.000Z',
    timezone: 'UTC',
  },
  metrics: {
    total_micros: 107_492_458,
    unique_settlements: 8_819,
    avg_micros_per_settlement: 12_188.73,
    budget_used_pct: 0,
  },
});
const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) };

const server = createServer((_req, res) => res.writeHead(200, headers).end(body));
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
announce({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
