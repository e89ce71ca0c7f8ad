import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decideLogIn, type LogInFacts, type LogInSettings } from './log-in.decision.ts';

const nobody: LogInFacts = {
  person: { email: 'a@example.com', emailProven: true },
  knownUserId: null,
  verifiedUserId: null,
  isClaimed: false,
  isInvited: false,
  isMapped: false,
};
const closed: LogInSettings = { signUp: false, strict: false };
const open: LogInSettings = { signUp: true, strict: false };
const unproven = { email: 'a@example.com', emailProven: false };

describe('a login with a provider', () => {
  it('of a known person goes to their account, whatever e-mail they have now', () => {
    const facts = { ...nobody, person: unproven, knownUserId: 'user_1', verifiedUserId: 'user_2', isClaimed: true };
    expect(decideLogIn(facts, closed)).toEqual({ kind: 'log_in', userId: 'user_1', link: false });
  });

  it('links the account whose verified e-mail is proven by the provider', () => {
    const facts = { ...nobody, verifiedUserId: 'user_2' };
    expect(decideLogIn(facts, closed)).toEqual({ kind: 'log_in', userId: 'user_2', link: true });
  });

  it('asks for the password of an account that claims the e-mail without having verified it', () => {
    expect(decideLogIn({ ...nobody, isClaimed: true }, closed)).toEqual({ kind: 'prove', mayBeNew: false });
    expect(decideLogIn({ ...nobody, isClaimed: true }, open)).toEqual({ kind: 'prove', mayBeNew: true });
  });

  it('makes an account where that is allowed, or for an invitation', () => {
    expect(decideLogIn(nobody, closed)).toEqual({ kind: 'refuse', reason: 'no_account' });
    expect(decideLogIn(nobody, open)).toEqual({ kind: 'sign_up' });
    expect(decideLogIn({ ...nobody, isInvited: true }, closed)).toEqual({ kind: 'sign_up' });
    const withoutEmail = { ...nobody, person: { email: null, emailProven: false } };
    expect(decideLogIn(withoutEmail, open)).toEqual({ kind: 'sign_up' });
    expect(decideLogIn(withoutEmail, closed)).toEqual({ kind: 'refuse', reason: 'no_account' });
  });

  it('refuses whoever is mapped to nothing when it is strict, known or not', () => {
    const strict = { signUp: true, strict: true };
    const refused = { kind: 'refuse', reason: 'not_mapped' };
    expect(decideLogIn({ ...nobody, isInvited: true }, strict)).toEqual(refused);
    expect(decideLogIn({ ...nobody, knownUserId: 'user_1' }, strict)).toEqual(refused);
    expect(decideLogIn({ ...nobody, isMapped: true }, strict)).toEqual({ kind: 'sign_up' });
  });

  const anyFacts = fc.record({
    person: fc.constantFrom(
      { email: 'a@example.com', emailProven: true },
      { email: 'a@example.com', emailProven: false },
      { email: null, emailProven: false },
    ),
    knownUserId: fc.constantFrom(null, 'user_1'),
    verifiedUserId: fc.constantFrom(null, 'user_2'),
    isClaimed: fc.boolean(),
    isInvited: fc.boolean(),
    isMapped: fc.boolean(),
  });
  const anySettings = fc.record({ signUp: fc.boolean(), strict: fc.boolean() });

  it('never enters an account by an e-mail that is not proven, nor by one that its account has not verified', () => {
    fc.assert(
      fc.property(anyFacts, anySettings, (facts, settings) => {
        const decision = decideLogIn(facts, settings);
        if (decision.kind !== 'log_in' || facts.knownUserId !== null) return;
        expect([facts.person.emailProven, decision.userId]).toEqual([true, facts.verifiedUserId]);
      }),
    );
  });

  it('does not reveal whether there is an account to somebody whose e-mail is not proven', () => {
    fc.assert(
      fc.property(anyFacts, anySettings, (facts, settings) => {
        const stranger = { ...facts, knownUserId: null, person: unproven };
        const without = { ...stranger, verifiedUserId: null, isClaimed: false };
        expect(decideLogIn(stranger, settings)).toEqual(decideLogIn(without, settings));
      }),
    );
  });

  it('makes no account where neither the setting nor an invitation allows it', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const decision = decideLogIn({ ...facts, isInvited: false }, closed);
        expect(decision.kind === 'sign_up' || (decision.kind === 'prove' && decision.mayBeNew)).toBe(false);
      }),
    );
  });
});
