import { describe, expect, it } from '@jest/globals';
import { gainsBy, may, NEEDED_ROLES, ranksAtLeast, ROLES } from './roles.ts';

describe('the permissions of roles', () => {
  const allowed = (act: 'read' | 'change') =>
    Object.fromEntries(ROLES.map((role) => [role, NEEDED_ROLES.filter((needed) => may(role, act, needed)).join(' ')]));

  it('let finance read everything, and change only exports and what everybody may', () => {
    expect(allowed('read')).toEqual({
      member: 'any member',
      finance: 'any member finance admin owner',
      admin: 'any member admin',
      owner: 'any member finance admin owner',
    });
    expect(allowed('change')).toEqual({
      member: 'any member',
      finance: 'any finance',
      admin: 'any member admin',
      owner: 'any member finance admin owner',
    });
  });

  it('say which changes of a role give a person more', () => {
    const gains = ROLES.flatMap((from) => ROLES.filter((to) => gainsBy(from, to)).map((to) => `${from} → ${to}`));
    expect(gains).toEqual([
      ...['member → finance', 'member → admin', 'member → owner'],
      ...['finance → member', 'finance → admin', 'finance → owner'],
      ...['admin → finance', 'admin → owner'],
    ]);
  });

  it('rank member below finance below admin below owner, for rules that give several', () => {
    const lower = ROLES.map((role) => ROLES.filter((other) => ranksAtLeast(role, other)).length);
    expect(lower).toEqual([1, 2, 3, 4]);
  });
});
