import { describe, expect, it } from '@jest/globals';
import { oidcProviders } from './provider.ts';

const good = {
  id: 'okta',
  issuer: 'https://example.okta.com',
  client_id: 'tollkeeper',
  client_secret: 'hunter2-hunter2',
  button_text: 'Log in with Okta',
};

const problemsOf = (value: unknown) => {
  const result = oidcProviders.safeParse(typeof value === 'string' ? value : JSON.stringify(value));
  return result.success ? [] : result.error.issues.map(({ message }) => message);
};

describe('the setting with the providers', () => {
  it('fills in what is left out', () => {
    expect(oidcProviders.parse(JSON.stringify([good]))).toEqual([
      {
        kind: 'people',
        id: 'okta',
        issuer: 'https://example.okta.com',
        clientId: 'tollkeeper',
        clientSecret: 'hunter2-hunter2',
        clientAuthentication: 'client_secret_basic',
        buttonText: 'Log in with Okta',
        scopes: ['openid', 'email', 'profile'],
        caFile: undefined,
        clockToleranceSeconds: 30,
        mapping: [],
      },
    ]);
  });

  it('names every problem and its place at once, and no value', () => {
    const bad = [
      { ...good, id: 'Okta!', issuer: 'http://example.okta.com', button_text: '' },
      {
        ...good,
        id: 'failures',
        issuer: 'https://id.example.com/?x=1',
        clock_tolerance_seconds: 301,
        scopes: ['email'],
        mapping: [{ claim: 'a..b', value: 'x', workspace: 'Not a slug', role: 'king' }],
      },
    ];
    const problems = problemsOf(bad);
    expect(problems).toEqual([
      '[0].id must be 1 to 32 of a-z and 0-9, with single hyphens between them',
      '[0].issuer must be https; http is allowed only for loopback addresses',
      '[0].button_text must not be empty',
      '[1].id must not be one of failures, links',
      '[1].issuer must have no query, fragment or credentials',
      '[1].scopes must include openid',
      '[1].clock_tolerance_seconds must be from 0 to 300',
      '[1].mapping[0].claim must be names with single dots between, at most 10',
      '[1].mapping[0].workspace must be the slug of a workspace',
      expect.stringContaining('[1].mapping[0].role '),
    ]);
    expect(problems.join()).not.toContain('hunter2');
  });

  it('never repeats what is no JSON, which may be a secret', () => {
    expect(problemsOf('{"client_secret": "hunter2')).toEqual(['is not JSON']);
    expect(problemsOf({})).toEqual(['must be a list of providers']);
  });

  it('takes five providers, and none twice', () => {
    const some = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ ...good, id: `p-${index}`, issuer: `https://p${index}.test` }));
    expect(problemsOf(some(5))).toEqual([]);
    expect(problemsOf(some(6))).toEqual(['must be at most 5 providers']);
    expect(problemsOf([good, good])).toEqual([
      '[1].id is also used by another provider',
      '[1].issuer is also used by another provider',
    ]);
  });

  it.each([
    'https://login.microsoftonline.com/8f1c2d3e-0000-0000-0000-000000000000/v2.0',
    'http://localhost:4000',
    'http://127.0.0.1:4000/realms/x',
    'http://[::1]:4000',
  ])('takes the issuer %s', (issuer) => {
    expect(problemsOf([{ ...good, issuer }])).toEqual([]);
  });

  it.each([
    'https://login.microsoftonline.com/common/v2.0',
    'https://login.microsoftonline.com/organizations/v2.0',
    'https://example.okta.com/.well-known/openid-configuration',
    'https://user:secret@example.com',
    'ftp://example.com',
    'http://localhost.example.com',
    'example.okta.com',
    '',
  ])('refuses the issuer %j', (issuer) => {
    expect(problemsOf([{ ...good, issuer }]).filter((problem) => !problem.startsWith('[0].issuer '))).toEqual([]);
    expect(problemsOf([{ ...good, issuer }])).not.toEqual([]);
  });
});
