import type { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';
import { CLIENT_HEADER, signClientAddress } from '@tollkeeper/http';
import { newId } from '@tollkeeper/kernel';
import { CALLER_TOKEN_SECRET } from '@tollkeeper/testing';
import { CompactSign, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import supertest, { type Response } from 'supertest';

export const AUDIENCE = 'https://tollkeeper.test';
export const SUBJECT = 'repo:acme/infra:ref:refs/heads/main';

interface Key {
  kid: string;
  publicKey: webcrypto.CryptoKey;
  privateKey: webcrypto.CryptoKey;
}

interface TokenOptions {
  /** Instead of the issuer's present key. */
  key?: Key;
  header?: Record<string, unknown>;
  /** The whole signed text, instead of claims. */
  payload?: string;
}

/** An issuer of tokens for machines: real metadata, keys and signatures. Its clock is `now()`. */
export function useIssuer(now: () => number) {
  let server: Server;
  let key: Key;
  let published: JWK[] = [];
  const asked: string[] = [];
  const faults: { answer: RequestListener | undefined } = { answer: undefined };

  async function newKey(): Promise<Key> {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    return { kid: newId('key'), publicKey, privateKey };
  }

  async function publish(next: Key): Promise<void> {
    published = [{ ...(await exportJWK(next.publicKey)), kid: next.kid, alg: 'ES256', use: 'sig' }];
  }

  const listener: RequestListener = (req, res) => {
    asked.push(req.url ?? '');
    if (faults.answer !== undefined) return faults.answer(req, res);
    const documents: Record<string, unknown> = {
      '/.well-known/openid-configuration': { issuer: issuer.url(), jwks_uri: `${issuer.url()}/keys` },
      '/keys': { keys: published },
    };
    const found = documents[req.url ?? ''];
    if (found === undefined) return void res.writeHead(404).end();
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found));
  };

  beforeAll(async () => {
    key = await newKey();
    await publish(key);
    server = createServer(listener);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const issuer = {
    url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Tollkeeper's settings for it. */
    settings: (change: Record<string, unknown> = {}): Record<string, unknown> => ({
      ...{ kind: 'machines', id: 'ci', issuer: issuer.url(), audience: AUDIENCE },
      mapping: [{ claims: { repository: 'acme/infra' }, account: 'deploy', workspace: 'alpha', role: 'admin' }],
      ...change,
    }),
    newKey,
    key: () => key,
    /** The present public keys. */
    jwks: () => ({ keys: published }),
    /** Signs with a new key from now on, and publishes it alone. */
    async rotate() {
      key = await newKey();
      await publish(key);
    },
    /** Replaces every answer; undefined for none. */
    answerWith: (answer: RequestListener | undefined) => void (faults.answer = answer),
    /** Paths of the requests so far. */
    asked: () => asked,
    /** The claims of a job, overridden by `change`; undefined leaves one out. */
    claims(change: Record<string, unknown> = {}): Record<string, unknown> {
      const seconds = Math.floor(now() / 1000);
      return {
        ...{ iss: issuer.url(), aud: AUDIENCE, sub: SUBJECT, jti: newId('key') },
        ...{ iat: seconds, nbf: seconds, exp: seconds + 300 },
        ...{ repository: 'acme/infra', ref: 'refs/heads/main' },
        ...change,
      };
    },
    token(change: Record<string, unknown> = {}, { key: own = key, header = {}, payload }: TokenOptions = {}) {
      const protectedHeader = { alg: 'ES256', typ: 'JWT', kid: own.kid, ...header };
      if (payload !== undefined) {
        const signer = new CompactSign(new TextEncoder().encode(payload)).setProtectedHeader(protectedHeader);
        return signer.sign(own.privateKey);
      }
      const signer = new SignJWT(issuer.claims(change)).setProtectedHeader(protectedHeader);
      return signer.sign(own.privateKey, { crit: { 'test-only': true } });
    },
  };
  return issuer;
}

/** The answer to a successful exchange. */
export interface Entered {
  session: string;
  expires_at: string;
  user: { id: string; name: string; login_name: string };
  workspaces: { slug: string; role: string }[];
}

/** Exchanges a token at a replica, as the gateway sends it for a client at `address`. */
export async function exchangeAt(httpUrl: string, token: string, address: string): Promise<Response> {
  const signed = await signClientAddress(CALLER_TOKEN_SECRET, 'identity', address);
  const request = supertest(httpUrl).post('/api/v1/auth/oidc/ci:exchange').set(CLIENT_HEADER, signed);
  return request.send({ id_token: token });
}
