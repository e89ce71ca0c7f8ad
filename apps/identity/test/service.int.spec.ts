import { describe, expect, it } from '@jest/globals';
import { useMongo } from '@tollkeeper/testing';
import { cookieOf, setCookieOf, useIdentity } from './identity.stack.ts';

describe('the identity service', () => {
  const identity = useIdentity(useMongo(), { PUBLIC_URL: 'http://localhost:8080' });

  it('sets a cookie that a browser takes over plain http when it is reached so on loopback', async () => {
    const response = await identity.login((await identity.newOwner()).email);
    expect(setCookieOf(response)).toEqual([expect.stringMatching(/; HttpOnly; SameSite=Lax$/)]);
  });

  it('keeps sessions over a restart', async () => {
    const cookie = cookieOf(await identity.login((await identity.newOwner()).email));
    await identity.restart();
    expect(await identity.resolve(cookie)).not.toBeNull();
  });

  it('has the unique indexes that its answers of 409 stand on', async () => {
    const uniqueKeys = async (name: string) =>
      (await identity.collection(name).indexes()).filter(({ unique }) => unique).map(({ key }) => key);
    const keysOfUsers = [{ serviceAccountKey: 1 }, { loginName: 1 }, { email: 1, emailVerified: 1 }];
    expect(await uniqueKeys('users')).toEqual(keysOfUsers);
    expect(await uniqueKeys('invitations')).toEqual([
      { tokenSha256: 1 },
      { mailedTokenSha256: 1 },
      { tenantId: 1, email: 1 },
    ]);
    expect(await uniqueKeys('workspaces')).toEqual([{ slug: 1 }]);
    expect(await uniqueKeys('members')).toEqual([{ tenantId: 1, userId: 1 }]);
    expect(await uniqueKeys('agents')).toEqual([{ tenantId: 1, agentId: 1 }]);
  });
});
