import { describe, expect, it } from '@jest/globals';
import { createPasswordHasher } from './password.hasher.ts';

/** The hash of "password" by the reference implementation. */
const VECTOR = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4';

describe('password hasher', () => {
  const hasher = createPasswordHasher();

  it('makes PHC strings of Argon2id with the parameters of OWASP and a new salt each time', async () => {
    const [first, second] = await Promise.all([hasher.hash('a password'), hasher.hash('a password')]);
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(second).not.toBe(first);
  });

  it('knows the password again, however its letters were typed, and no other', async () => {
    const hash = await hasher.hash('pa\u0301ssword');
    expect(await hasher.verify('p\u00e1ssword', hash)).toBe(true);
    expect(await hasher.verify('password', hash)).toBe(false);
    expect(await hasher.verify('', hash)).toBe(false);
  });

  it.each([VECTOR, '$argon2id$v=19$m=256,t=10,p=12$c29tZXNhbHQ$4HkvWsfHvdTH6+4WgtI0tjoiOBw2BPI/FUCpJ7DlLGc'])(
    'checks a hash of other software and other parameters: %s',
    async (hash) => {
      expect(await hasher.verify('password', hash)).toBe(true);
      expect(await hasher.verify('Password', hash)).toBe(false);
    },
  );

  it.each(['', 'password', ` ${VECTOR}`, `${VECTOR} `, VECTOR.slice(0, VECTOR.lastIndexOf('$'))])(
    'says so where what is stored is no hash, and lets no password pass: %j',
    async (stored) => {
      await expect(hasher.verify('password', stored)).rejects.toThrow('not a PHC string');
    },
  );

  it('says no where there is no hash', async () => {
    expect(await hasher.verify('a password', null)).toBe(false);
  });

  it('refuses work beyond its queue, and does the work again that it took', async () => {
    const attempts = await Promise.allSettled(Array.from({ length: 110 }, () => hasher.verify('x', null)));
    const refused = attempts.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(8);
    expect(refused).toEqual(
      Array(8).fill({ status: 'rejected', reason: expect.objectContaining({ code: 'service_unavailable' }) }),
    );
    expect(await hasher.verify('x', null)).toBe(false);
  });
});
