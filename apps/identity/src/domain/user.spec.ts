import { describe, expect, it } from '@jest/globals';
import { localPartOf, loginNamesFor } from './user.ts';

describe('login names for a new user', () => {
  it('are the part of the e-mail before the @, then the same with more and more digits', () => {
    const [first, ...others] = loginNamesFor(localPartOf('Ada.Lovelace+work@example.com'));
    expect(first).toBe('ada.lovelace-work');
    expect(others).toHaveLength(8);
    for (const name of others) expect(name).toMatch(/^ada\.lovelace-work-\d{1,8}$/);
  });

  it('are no e-mails, so that a taken one reveals nothing about an e-mail', () => {
    for (const name of loginNamesFor(localPartOf('"a@b"@example.com'))) expect(name).not.toContain('@');
  });

  it('have at most 64 characters', () => {
    for (const name of loginNamesFor('x'.repeat(200))) expect(name.length).toBeLessThanOrEqual(64);
  });
});
