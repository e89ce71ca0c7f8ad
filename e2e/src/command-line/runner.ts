import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';

const ISSUER = 'https://ci.example.com';
const REQUEST_TOKEN = 'request-token-of-the-job';

/** Of the standalone's first workspace, which all settings can name. */
const RULE = { claims: { repository: 'acme/infra' }, account: 'deploy', workspace: 'demo', role: 'member' };

/** A runner of jobs, which signs their tokens and gives them out as GitHub Actions does. */
export interface Runner {
  readonly audience: string;
  /** Tollkeeper's settings for it. */
  provider(): Record<string, unknown>;
  token(audience?: string): string;
  /** Variables of a job that may request a token. */
  environment(): NodeJS.ProcessEnv;
  /** The next requests get these statuses instead of a token. */
  fail(...statuses: number[]): void;
}

export function useRunner(): Runner {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  let failures: number[] = [];
  let server: Server;

  const runner: Runner = {
    audience: 'https://tollkeeper.example.com',
    provider: () => ({
      ...{ kind: 'machines', id: 'ci', issuer: ISSUER, audience: runner.audience, mapping: [RULE] },
      jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'only', alg: 'ES256', use: 'sig' }] },
    }),
    token: (audience = runner.audience) => signed(privateKey, audience),
    environment: () => ({
      ...{ CI: 'true', GITHUB_ACTIONS: 'true', ACTIONS_ID_TOKEN_REQUEST_TOKEN: REQUEST_TOKEN },
      ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token?api-version=2.0`,
    }),
    fail: (...statuses) => (failures = statuses),
  };

  beforeAll(async () => {
    server = createServer((req, res) => {
      const { searchParams } = new URL(req.url ?? '/', 'http://localhost');
      const [failure, ...later] = failures;
      failures = later;
      const isRight =
        req.headers.authorization === `bearer ${REQUEST_TOKEN}` && searchParams.get('api-version') === '2.0';
      const status = failure ?? (isRight ? 200 : 401);
      res.writeHead(status, { 'content-type': 'application/json' });
      res.end(JSON.stringify(status === 200 ? { value: runner.token(searchParams.get('audience') ?? '') } : {}));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return runner;
}

function signed(key: KeyObject, audience: string): string {
  const now = Math.floor(Date.now() / 1_000);
  const claims = {
    ...{ iss: ISSUER, aud: audience, sub: 'repo:acme/infra:ref:refs/heads/main', jti: randomUUID() },
    ...{ iat: now, exp: now + 300, repository: 'acme/infra' },
  };
  const parts = [{ alg: 'ES256', typ: 'JWT', kid: 'only' }, claims];
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}
