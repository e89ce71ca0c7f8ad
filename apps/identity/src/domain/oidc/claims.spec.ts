import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { claimAt, claimsLeftOut, mapClaims, matchesGlob, mergeClaims, missingClaims, reportClaims } from './claims.ts';
import type { MappingRule } from './provider.ts';

const rule = (value: string, role: MappingRule['role'], workspace = 'demo', claim = 'groups'): MappingRule => ({
  claim,
  value,
  workspace,
  role,
});

describe('a claim', () => {
  const claims = {
    groups: ['a'],
    realm_access: { roles: ['b'], 'with.dot': 'c' },
    'https://example.com/groups': 'd',
    deep: { er: { est: 1 } },
    none: null,
  };

  it.each([
    ['groups', ['a']],
    ['realm_access.roles', ['b']],
    ['realm_access.with.dot', 'c'],
    ['https://example.com/groups', 'd'],
    ['deep.er.est', 1],
    ['none', null],
    ['none.more', undefined],
    ['groups.length.x', undefined],
    ['deep.er.nothing', undefined],
    ['__proto__', undefined],
    ['__proto__.polluted', undefined],
    ['constructor.name', undefined],
    ['toString', undefined],
  ])('is found at %s', (path, value) => {
    expect(claimAt(claims, path)).toEqual(value);
  });
});

describe('a pattern', () => {
  it.each([
    ['tk-admins', 'tk-admins', true],
    ['tk-admins', 'tk-admin', false],
    ['tk-admins', 'TK-admins', false],
    ['tk-admins', 'tk-*', true],
    ['xtk-admins', 'tk-*', false],
    ['tk-admins', '*-admins', true],
    ['tk-admins', '*min*', true],
    ['tk-admins', 't*-*s', true],
    ['a', 'a*a', false],
    ['aa', 'a*a', true],
    ['abcab', 'ab*cab*ab', false],
    ['', '*', true],
    ['a.b', 'a?b', false],
    ['a+', 'a+', true],
  ])('of the text %s: %s', (text, pattern, expected) => {
    expect(matchesGlob(text, pattern)).toBe(expected);
  });

  it('agrees with the regular expression that means the same, whatever the texts', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.'), maxLength: 12 });
    fc.assert(
      fc.property(word, word, (text, pattern) => {
        const parts = pattern.split('*').map((part) => part.replaceAll('.', '\\.'));
        expect(matchesGlob(text, pattern)).toBe(new RegExp(`^${parts.join('[^]*')}$`).test(text));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the mapping', () => {
  it('gives the highest role of all rules that match, and none for those that do not', () => {
    const mapping = [rule('staff', 'member'), rule('tk-*', 'admin'), rule('tk-owners', 'owner', 'other')];
    const grants = mapClaims({ groups: ['staff', 'tk-admins'] }, mapping);
    expect(grants).toEqual([{ workspace: 'demo', role: 'admin', rule: mapping[1] }]);
  });

  it('reads a single value, a number and a boolean as text, and nothing out of objects', () => {
    const of = (groups: unknown, value: string) => mapClaims({ groups }, [rule(value, 'member')]).length;
    expect([of('staff', 'staff'), of(7, '7'), of([true], 'true'), of([{ a: 1 }], '*'), of(null, '*')]).toEqual([
      ...[1, 1, 1, 0, 0],
    ]);
  });

  it('does not depend on the order of rules and groups', () => {
    const group = fc.constantFrom('a', 'b', 'c', 'd');
    const rules = fc.array(
      fc.record({
        claim: fc.constant('groups'),
        value: fc.oneof(group, fc.constant('*')),
        workspace: fc.constantFrom('one', 'two', 'three'),
        role: fc.constantFrom('member' as const, 'admin' as const, 'owner' as const),
      }),
      { maxLength: 8 },
    );
    const plain = (groups: string[], mapping: MappingRule[]) =>
      mapClaims({ groups }, mapping)
        .map(({ workspace, role }) => `${workspace} ${role}`)
        .sort();
    fc.assert(
      fc.property(fc.array(group, { maxLength: 4 }), rules, (groups, mapping) => {
        expect(plain(groups.toReversed(), mapping.toReversed())).toEqual(plain(groups, mapping));
      }),
    );
  });

  it('says which claims it asked for in vain, and which the provider left out', () => {
    expect(missingClaims({ roles: [] }, ['groups', 'roles', 'groups'])).toEqual(['groups']);
    expect(claimsLeftOut({ _claim_names: { groups: 'src1' } })).toEqual(['groups']);
    expect(claimsLeftOut({})).toEqual([]);
  });
});

describe('what is kept for owners', () => {
  it('is who somebody is and what the rules asked for, with the names of all other claims', () => {
    const claims = { sub: '1', email: 'a@example.com', groups: ['x'], phone_number: '+1', nonce: 'n' };
    expect(reportClaims(claims, [rule('x', 'member'), rule('y', 'member', 'demo', 'roles')])).toEqual({
      names: ['email', 'groups', 'nonce', 'phone_number', 'sub'],
      claims: [
        { name: 'email', values: ['a@example.com'] },
        { name: 'email_verified', values: null },
        { name: 'name', values: null },
        { name: 'preferred_username', values: null },
        { name: 'groups', values: ['x'] },
        { name: 'roles', values: null },
      ],
    });
  });

  it('is bounded, whatever a provider sends', () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`claim-${index}`, 'x']));
    const claims = { ...many, groups: Array.from({ length: 5_000 }, () => 'g'.repeat(1_000)) };
    expect(JSON.stringify(reportClaims(claims, [rule('x', 'member')])).length).toBeLessThan(32 * 1024);
  });
});

describe('the claims of an id_token and of userinfo', () => {
  it('are taken together, and those of the id_token count where both have one', () => {
    expect(mergeClaims({ sub: '1', groups: ['a'] }, { groups: ['b'], name: 'Ann' })).toEqual({
      sub: '1',
      groups: ['a'],
      name: 'Ann',
    });
  });

  const victim = 'victim@corp.test';
  it.each([
    ['that the other one has verified', { email: victim }, { email: 'own@evil.test', email_verified: true }, undefined],
    ['of userinfo alone', { email_verified: true }, { email: victim }, undefined],
    ['that is verified itself', { email: victim, email_verified: true }, { email: 'own@evil.test' }, true],
    ['that both have', { email: victim }, { email: victim, email_verified: true }, true],
    ['of userinfo that is verified there', {}, { email: victim, email_verified: 'true' }, 'true'],
  ])('an e-mail %s is verified by whoever says it', (_, idToken, userInfo, verified) => {
    const merged = mergeClaims(idToken, userInfo);
    expect(merged['email']).toBe(victim);
    expect(merged['email_verified']).toBe(verified);
  });
});
