import { describe, expect, it } from '@jest/globals';
import { useMongo } from '@tollkeeper/testing';
import { PASSWORD, useIdentity } from './identity.stack.ts';

describe('login limits', () => {
  const identity = useIdentity(useMongo());
  const fail = (email: string, address?: string) =>
    identity.login(email, 'not the password', address === undefined ? {} : { address });

  async function failTenTimes(email: (index: number) => string, address?: string): Promise<void> {
    for (let index = 0; index < 10; index += 1) expect((await fail(email(index), address)).status).toBe(401);
  }

  it('stop an e-mail after ten failures from anywhere, even with the right password, and say for how long', async () => {
    const { email } = await identity.newOwner();
    await failTenTimes(() => email);
    const response = await identity.login(email);
    expect(response.status).toBe(429);
    expect(response.body).toMatchObject({ code: 'rate_limited' });
    const retryAfter = Number(response.get('retry-after'));
    expect(retryAfter).toBeGreaterThan(15 * 60 - 60);
    expect(retryAfter).toBeLessThanOrEqual(15 * 60);
  });

  it('stop an unknown e-mail just the same, so that they do not reveal who has an account', async () => {
    await failTenTimes(() => 'unknown@example.com');
    expect((await fail('unknown@example.com')).status).toBe(429);
  });

  it('stop an address after ten failures for whatever e-mails, and leave others alone', async () => {
    const { email } = await identity.newOwner();
    await failTenTimes((index) => `nobody-${index}@example.com`, '198.51.100.7');
    expect((await identity.login(email, PASSWORD, { address: '198.51.100.7' })).status).toBe(429);
    expect((await identity.login(email, PASSWORD, { address: '198.51.100.8' })).status).toBe(200);
  });

  it('take the /64 of an IPv6 address for one address', async () => {
    const { email } = await identity.newOwner();
    for (let index = 0; index < 10; index += 1) await fail(`nobody-${index}@example.org`, `2001:db8:0:1::${index}`);
    expect((await identity.login(email, PASSWORD, { address: '2001:db8:0:1:9::' })).status).toBe(429);
    expect((await identity.login(email, PASSWORD, { address: '2001:db8:0:2::1' })).status).toBe(200);
  });

  it('count failures alone: logins that succeed are never too many', async () => {
    const { email } = await identity.newOwner();
    const logins = await Promise.all(
      Array.from({ length: 25 }, () => identity.login(email, PASSWORD, { address: '198.51.100.9' })),
    );
    expect(logins.map(({ status }) => status)).toEqual(Array(25).fill(200));
  });

  it('are not got around by trying many passwords at the same time', async () => {
    const { email } = await identity.newOwner();
    const responses = await Promise.all(Array.from({ length: 30 }, () => fail(email)));
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(20);
  });

  it('hold across replicas and restarts', async () => {
    const { email } = await identity.newOwner();
    await failTenTimes(() => email);
    await identity.restart();
    expect((await identity.login(email)).status).toBe(429);
  });

  it('are forgotten by the database once they are over, and name no e-mail', async () => {
    const { email } = await identity.newOwner();
    await fail(email);
    const failures = identity.collection('login_failures');
    expect(await failures.indexes()).toContainEqual(expect.objectContaining({ expireAfterSeconds: 0 }));
    expect(JSON.stringify(await failures.find().toArray())).not.toContain(email);
  });
});
