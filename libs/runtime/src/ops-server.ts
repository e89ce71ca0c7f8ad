import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as prom from 'prom-client';
import type { Component } from './lifecycle.ts';
import type { Logger } from './logger.ts';
import { renderMetrics } from './metrics.ts';
import type { Metrics } from './metrics.ts';

export interface OpsServerOptions {
  /** 0 lets the operating system choose. */
  port: number;
  host?: string;
  metrics: readonly Metrics[];
  /** Rejects with the reason while the process cannot do its work. */
  ready: () => Promise<void>;
  /** Rejects with what the process cannot do although it is ready. By default it resolves. */
  impaired?: () => Promise<void>;
  /** Milliseconds after which an unfinished `ready` counts as "not ready", and an unfinished `impaired` as impaired. */
  readyTimeoutMs?: number;
  logger: Logger;
}

/** The server for the operator only. `port` is valid once started. */
export type OpsServer = Component & { readonly port: number };

/**
 * Serves `/healthz` (200 while the process can answer at all), `/readyz` (200, with what is impaired, or 503 with the
 * reasons) and `/metrics` (Prometheus text: the metrics of the process and of all services in it).
 *
 * A process that is ready except for a part of its work, such as one partition of several, answers 200 and reports
 * `impaired`: a 503 would take it from everybody, and no other replica could do that part either.
 *
 * Start it first and stop it last, so that it reports correctly while the rest starts and drains. It has no
 * authentication: keep its port inside the cluster.
 */
export function createOpsServer(options: OpsServerOptions): OpsServer {
  const { port, host = '0.0.0.0', metrics, ready, impaired = async () => {}, readyTimeoutMs = 5_000, logger } = options;
  const processRegistry = new prom.Registry();
  const registries = [processRegistry, ...metrics.map(({ registry }) => registry)];

  async function respond(path: string): Promise<{ status: number; type: string; body: string }> {
    const json = 'application/json; charset=utf-8';
    if (path === '/healthz') return { status: 200, type: json, body: '{"status":"ok"}' };
    if (path === '/metrics') {
      return { status: 200, type: prom.Registry.PROMETHEUS_CONTENT_TYPE, body: await renderMetrics(registries) };
    }
    if (path !== '/readyz') return { status: 404, type: json, body: '{"error":"Not found."}' };
    const [reason, impairment] = await Promise.all([
      reasonOf(ready, readyTimeoutMs),
      reasonOf(impaired, readyTimeoutMs),
    ]);
    if (reason === null) {
      const body = { status: 'ready', ...(impairment !== null && { impaired: impairment }) };
      return { status: 200, type: json, body: JSON.stringify(body) };
    }
    return { status: 503, type: json, body: JSON.stringify({ status: 'not ready', reason }) };
  }

  function gauge(name: string, help: string, read: () => Promise<number>): void {
    new prom.Gauge({
      ...{ name, help, registers: [processRegistry] },
      async collect() {
        this.set(await read());
      },
    });
  }

  const listener: RequestListener = (req, res) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      res.writeHead(405, { allow: 'GET, HEAD' }).end();
      return;
    }
    respond((req.url ?? '/').split('?', 1)[0] ?? '/').then(
      ({ status, type, body }) =>
        res.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body),
      (err: unknown) => {
        logger.error({ err }, 'a request to the operations server failed');
        res.writeHead(500).end();
      },
    );
  };
  const server = createServer(listener);

  return {
    name: 'ops-server',
    get port() {
      return (server.address() as AddressInfo | null)?.port ?? port;
    },
    async start() {
      prom.collectDefaultMetrics({ register: processRegistry });
      gauge('tollkeeper_ready', '1 while /readyz answers 200; otherwise 0', async () =>
        (await reasonOf(ready, readyTimeoutMs)) === null ? 1 : 0,
      );
      gauge('tollkeeper_impaired', '1 while /readyz lists something under impaired; otherwise 0', async () =>
        (await reasonOf(impaired, readyTimeoutMs)) === null ? 0 : 1,
      );
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve();
        });
      });
    },
    async stop() {
      processRegistry.clear();
      if (!server.listening) return;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await closed;
    },
  };
}

async function reasonOf(check: () => Promise<void>, timeoutMs: number): Promise<string | null> {
  try {
    await withTimeout(check(), timeoutMs);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function withTimeout(promise: Promise<void>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
