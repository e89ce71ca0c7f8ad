import { describe, expect, it } from '@jest/globals';
import { mayUsePassword } from './password.policy.ts';

const owner = { names: ['ann', 'ann@example.com'], roles: ['member', 'owner'] as const };
const admin = { names: ['bob@example.com'], roles: ['admin'] as const };

describe('a log-in with a password', () => {
  it('is for all, for owners, or for the one owner who always may', () => {
    const may = (allowed: 'all' | 'owners' | 'none', breakGlass: string | null = null) =>
      [owner, admin].map((who) => mayUsePassword({ allowed, breakGlass }, who));
    expect(may('all')).toEqual([true, true]);
    expect(may('owners')).toEqual([true, false]);
    expect(may('none')).toEqual([false, false]);
    expect(may('none', 'ann@example.com')).toEqual([true, false]);
    // The break-glass user must be an owner.
    expect(may('none', 'bob@example.com')).toEqual([false, false]);
  });
});
