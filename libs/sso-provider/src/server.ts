import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { generate } from 'selfsigned';
import { type People, samplePeople } from './people.ts';
import { createProvider, type Faults } from './provider.ts';

export interface ServerOptions {
  /** 0 for any free one. */
  port: number;
  /** Whether to serve https, with a self-signed certificate. */
  tls: boolean;
  claimsInIdToken: boolean;
  /** Called when a request is answered with 500. */
  onError(error: unknown): void;
}

export interface RunningProvider {
  issuer: string;
  clientSecret: string;
  /** PEM; null without TLS. */
  certificate: string | null;
}

const HOST = '127.0.0.1';
const VALID_MS = 30 * 86_400_000;

/**
 * Starts the provider on 127.0.0.1. `PUT /control/people` replaces the people (a JSON object of claims by name), and
 * `PUT /control/faults` the faults. Anybody on this machine may call them.
 */
export async function startProvider({ port, tls, claimsInIdToken, onError }: ServerOptions): Promise<RunningProvider> {
  const people: People = samplePeople();
  let faults: Faults = {};
  let answer: RequestListener = () => undefined;
  const control = async (request: IncomingMessage, response: ServerResponse) => {
    const value = (await json(request)) as Record<string, Record<string, unknown>>;
    if (request.url === '/control/faults') faults = value;
    else {
      people.clear();
      for (const [name, claims] of Object.entries(value)) people.set(name, claims);
    }
    response.writeHead(204).end();
  };
  const listener: RequestListener = (request, response) => {
    if (request.method === 'PUT' && request.url?.startsWith('/control/')) void control(request, response);
    else answer(request, response);
  };
  const identity = tls ? await newIdentity() : null;
  const server =
    identity === null
      ? createServer(listener)
      : createTlsServer({ key: identity.private, cert: identity.cert }, listener);
  server.listen(port, HOST);
  await once(server, 'listening');

  const issuer = `${tls ? 'https' : 'http'}://${HOST}:${(server.address() as AddressInfo).port}`;
  const clientSecret = randomBytes(24).toString('base64url');
  const realNow = Date.now;
  // The clock of this process is that of the provider.
  Date.now = () => realNow() + (faults.clockSeconds ?? 0) * 1000;
  const handle = createProvider({ issuer, clientSecret, people, claimsInIdToken, faults: () => faults });
  answer = (request, response) => {
    Promise.resolve(handle(request, response)).catch((error: unknown) => {
      onError(error);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  };
  return { issuer, clientSecret, certificate: identity?.cert ?? null };
}

function newIdentity() {
  return generate([{ name: 'commonName', value: 'Tollkeeper provider for trying' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + VALID_MS),
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: HOST }] }],
  });
}
