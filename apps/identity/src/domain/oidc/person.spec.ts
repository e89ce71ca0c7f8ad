import { describe, expect, it } from '@jest/globals';
import { personOf } from './person.ts';

const base = { iss: 'https://id.example.com', sub: '42' };
const of = (claims: object, trusted: string[] = []) => personOf({ ...base, ...claims }, trusted);

describe('a person as a provider knows them', () => {
  it('has an e-mail that is proven if the provider says so, in any of the forms that providers use', () => {
    expect(of({ email: 'Ann@Example.com', email_verified: true, name: ' Ann ' })).toEqual({
      issuer: base.iss,
      subject: '42',
      email: 'ann@example.com',
      emailProven: true,
      name: 'Ann',
    });
    expect(of({ email: 'a@example.com', email_verified: 'true' }).emailProven).toBe(true);
  });

  it.each([undefined, null, false, 'false', 1, 'yes', {}])('has none proven when the provider says %j', (said) => {
    expect(of({ email: 'a@example.com', email_verified: said }).emailProven).toBe(false);
  });

  it('has a proven e-mail of a domain that is trusted, and of no other that looks like it', () => {
    const trusted = ['example.com'];
    expect(of({ email: 'a@EXAMPLE.com' }, trusted).emailProven).toBe(true);
    for (const email of ['a@sub.example.com', 'a@notexample.com', 'a@example.com.evil.test']) {
      expect(of({ email }, trusted).emailProven).toBe(false);
    }
    expect(of({ email: '"a@example.com"@evil.test' }, trusted)).toMatchObject({ emailProven: false });
  });

  it.each([
    'аnn@example.com',
    '\u212aann@example.com',
    'ann@ex\u0430mple.com',
    'ann\u200b@example.com',
    'ann@example.com\0',
  ])('has no e-mail out of %j, which looks like another one', (email) => {
    expect(of({ email, email_verified: true }, ['example.com'])).toMatchObject({ email: null, emailProven: false });
  });

  it.each([undefined, 7, 'no e-mail', 'two@a.test,b@a.test', ['a@example.com'], `${'a'.repeat(250)}@example.com`])(
    'has no e-mail out of %j',
    (email) => {
      expect(of({ email, email_verified: true })).toMatchObject({ email: null, emailProven: false });
    },
  );
});
