import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import type { Caller } from '@tollkeeper/kernel';
import { SignJWT, UnsecuredJWT } from 'jose';
import {
  signCallerToken,
  signClientAddress,
  tokenKey,
  verifyCallerToken,
  verifyClientAddress,
} from './caller-token.ts';

const secret = 'a-secret-of-more-than-32-characters!';
const caller: Caller = { userId: 'user_1', tenantId: provenTenantId('ws_1'), role: 'admin' };
const refused = { code: 'unauthenticated' };

function forge(claims: Record<string, unknown>, key = secret) {
  return new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).setSubject('user_1').sign(tokenKey(key));
}

const nowSeconds = () => Math.floor(Date.now() / 1000);

describe('caller token', () => {
  it('carries the caller unchanged, with or without a workspace', async () => {
    await expect(verifyCallerToken(secret, await signCallerToken(secret, caller))).resolves.toEqual(caller);
    const person: Caller = { userId: 'user_1', tenantId: null, role: null };
    await expect(verifyCallerToken(secret, await signCallerToken(secret, person))).resolves.toEqual(person);
  });

  it('is refused when it is empty, rubbish, altered or signed with another secret', async () => {
    const token = await signCallerToken(secret, caller);
    const [header, payload, signature] = token.split('.');
    const owner = Buffer.from(
      Buffer.from(payload ?? '', 'base64url')
        .toString()
        .replace('admin', 'owner'),
    ).toString('base64url');
    const foreign = await signCallerToken('another-secret-of-32-characters-or-so', caller);
    for (const bad of ['', 'x', '..', `${header}.${owner}.${signature}`, `${header}.${payload}.`, foreign]) {
      await expect(verifyCallerToken(secret, bad)).rejects.toMatchObject(refused);
    }
  });

  it('is refused without a signature algorithm', async () => {
    const unsigned = new UnsecuredJWT({ tenant: 'ws_1', role: 'owner' })
      .setSubject('user_1')
      .setAudience('tollkeeper')
      .setIssuedAt()
      .setExpirationTime('60s')
      .encode();
    await expect(verifyCallerToken(secret, unsigned)).rejects.toMatchObject(refused);
  });

  it('is refused when it has expired, has no expiry, or lives longer than a minute', async () => {
    const now = nowSeconds();
    const aud = 'tollkeeper';
    await expect(verifyCallerToken(secret, await forge({ aud, iat: now - 50, exp: now - 10 }))).rejects.toMatchObject(
      refused,
    );
    await expect(verifyCallerToken(secret, await forge({ aud, iat: now }))).rejects.toMatchObject(refused);
    await expect(verifyCallerToken(secret, await forge({ aud, iat: now - 90, exp: now + 3600 }))).rejects.toMatchObject(
      refused,
    );
  });

  it('is refused when it is meant for something else or names an unknown role', async () => {
    const [iat, exp] = [nowSeconds(), nowSeconds() + 30];
    await expect(verifyCallerToken(secret, await forge({ aud: 'other', iat, exp }))).rejects.toMatchObject(refused);
    await expect(
      verifyCallerToken(secret, await forge({ aud: 'tollkeeper', iat, exp, tenant: 'ws_1', role: 'root' })),
    ).rejects.toMatchObject(refused);
    await expect(verifyCallerToken(secret, await signClientAddress(secret, '192.0.2.1'))).rejects.toMatchObject(
      refused,
    );
  });

  it('needs a secret as long as its hash', () => {
    expect(() => tokenKey('short')).toThrow('at least 32 bytes');
  });
});

describe('client address', () => {
  it('is carried unchanged, and a caller token is not taken for one', async () => {
    await expect(verifyClientAddress(secret, await signClientAddress(secret, '2001:db8::1'))).resolves.toBe(
      '2001:db8::1',
    );
    await expect(verifyClientAddress(secret, await signCallerToken(secret, caller))).rejects.toMatchObject(refused);
  });
});
