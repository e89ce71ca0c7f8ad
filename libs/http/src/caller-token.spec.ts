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
const refused = { code: 'unauthenticated', message: 'You are not signed in. Log in and try again.' };

function forge(claims: Record<string, unknown>, key = secret) {
  return new SignJWT({ sub: 'user_1', ...claims }).setProtectedHeader({ alg: 'HS256' }).sign(tokenKey(key));
}

const nowSeconds = () => Math.floor(Date.now() / 1000);

describe('caller token', () => {
  it('carries the caller unchanged, with or without a workspace', async () => {
    await expect(verifyCallerToken(secret, 'keys', await signCallerToken(secret, 'keys', caller))).resolves.toEqual(
      caller,
    );
    const person: Caller = { userId: 'user_1', tenantId: null, role: null };
    await expect(verifyCallerToken(secret, 'keys', await signCallerToken(secret, 'keys', person))).resolves.toEqual(
      person,
    );
  });

  it('is refused when it is empty, rubbish, altered or signed with another secret', async () => {
    const token = await signCallerToken(secret, 'keys', caller);
    const [header, payload, signature] = token.split('.');
    const owner = Buffer.from(
      Buffer.from(payload ?? '', 'base64url')
        .toString()
        .replace('admin', 'owner'),
    ).toString('base64url');
    const foreign = await signCallerToken('another-secret-of-32-characters-or-so', 'keys', caller);
    for (const bad of ['', 'x', '..', `${header}.${owner}.${signature}`, `${header}.${payload}.`, foreign]) {
      await expect(verifyCallerToken(secret, 'keys', bad)).rejects.toMatchObject(refused);
    }
  });

  it('is refused without a signature algorithm', async () => {
    const unsigned = new UnsecuredJWT({ tenant: 'ws_1', role: 'owner' })
      .setSubject('user_1')
      .setAudience('tollkeeper:keys')
      .setIssuedAt()
      .setExpirationTime('60s')
      .encode();
    await expect(verifyCallerToken(secret, 'keys', unsigned)).rejects.toMatchObject(refused);
  });

  it('is refused when it has expired, has no expiry, or lives longer than a minute', async () => {
    const now = nowSeconds();
    const aud = 'tollkeeper:keys';
    await expect(
      verifyCallerToken(secret, 'keys', await forge({ aud, iat: now - 50, exp: now - 10 })),
    ).rejects.toMatchObject(refused);
    await expect(verifyCallerToken(secret, 'keys', await forge({ aud, iat: now }))).rejects.toMatchObject(refused);
    await expect(
      verifyCallerToken(secret, 'keys', await forge({ aud, iat: now - 90, exp: now + 3600 })),
    ).rejects.toMatchObject(refused);
  });

  it('is refused when it is meant for something else or names an unknown role', async () => {
    const [iat, exp] = [nowSeconds(), nowSeconds() + 30];
    await expect(verifyCallerToken(secret, 'keys', await forge({ aud: 'other', iat, exp }))).rejects.toMatchObject(
      refused,
    );
    await expect(
      verifyCallerToken(
        secret,
        'keys',
        await forge({ aud: 'tollkeeper:keys', iat, exp, tenant: 'ws_1', role: 'root' }),
      ),
    ).rejects.toMatchObject(refused);
    await expect(
      verifyCallerToken(secret, 'keys', await signClientAddress(secret, 'keys', '192.0.2.1')),
    ).rejects.toMatchObject(refused);
  });

  it('is refused when it names no user, or only one of workspace and role', async () => {
    const claims = { aud: 'tollkeeper:keys', iat: nowSeconds(), exp: nowSeconds() + 30 };
    for (const bad of [{ sub: 7 }, { tenant: 'ws_1' }, { role: 'owner' }, { tenant: 7, role: 'owner' }]) {
      await expect(verifyCallerToken(secret, 'keys', await forge({ ...claims, ...bad }))).rejects.toMatchObject(
        refused,
      );
    }
  });

  it('is for one service: no other takes it, and none takes one that names no service', async () => {
    const token = await signCallerToken(secret, 'keys', caller);
    const [iat, exp] = [nowSeconds(), nowSeconds() + 30];
    const forAll = await forge({ aud: 'tollkeeper', iat, exp, tenant: 'ws_1', role: 'owner' });
    const forNone = await forge({ iat, exp, tenant: 'ws_1', role: 'owner' });
    await expect(verifyCallerToken(secret, 'budgets', token)).rejects.toMatchObject(refused);
    for (const bad of [forAll, forNone]) {
      await expect(verifyCallerToken(secret, 'keys', bad)).rejects.toMatchObject(refused);
    }
  });

  it('needs a secret with as many bytes as its hash', async () => {
    expect(() => tokenKey('s'.repeat(31))).toThrow('at least 32 bytes');
    const key = tokenKey('é'.repeat(16));
    await expect(verifyCallerToken(key, 'keys', await signCallerToken(key, 'keys', caller))).resolves.toEqual(caller);
  });
});

describe('client address', () => {
  it('is carried unchanged, and a caller token is not taken for one', async () => {
    await expect(
      verifyClientAddress(secret, 'keys', await signClientAddress(secret, 'keys', '2001:db8::1')),
    ).resolves.toBe('2001:db8::1');
    await expect(
      verifyClientAddress(secret, 'keys', await signCallerToken(secret, 'keys', caller)),
    ).rejects.toMatchObject(refused);
    const forKeys = await signClientAddress(secret, 'keys', '192.0.2.1');
    await expect(verifyClientAddress(secret, 'identity', forKeys)).rejects.toMatchObject(refused);
  });

  it('is a text', async () => {
    const token = await forge({ sub: 7, aud: 'tollkeeper-client:keys', iat: nowSeconds(), exp: nowSeconds() + 30 });
    await expect(verifyClientAddress(secret, 'keys', token)).rejects.toMatchObject(refused);
  });
});
