import { describe, expect, it } from '@jest/globals';
import { ROLES, roleAtLeast } from './tenant.ts';

describe('roleAtLeast', () => {
  it('orders member below admin below owner', () => {
    const allowed = ROLES.map((role) => ROLES.filter((needed) => roleAtLeast(role, needed)));
    expect(allowed).toEqual([['member'], ['member', 'admin'], ['member', 'admin', 'owner']]);
  });
});
