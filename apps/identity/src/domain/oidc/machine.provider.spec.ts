import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { oidcProviders } from './provider.ts';

const rule = { claims: { repository: 'acme/infra' }, account: 'deploy', workspace: 'alpha', role: 'admin' };
const good = {
  ...{ kind: 'machines', id: 'ci', issuer: 'https://ci.example.com', audience: 'https://tollkeeper.example.com' },
  mapping: [rule],
};
const GITHUB = 'https://token.actions.githubusercontent.com';

const problemsOf = (...list: object[]) => {
  const result = oidcProviders.safeParse(JSON.stringify(list));
  return result.success ? [] : result.error.issues.map(({ message }) => message);
};

describe('a provider for machines', () => {
  it('has rules that not every token matches', () => {
    expect(problemsOf(good)).toEqual([]);
    expect(problemsOf({ ...good, mapping: [] })).toEqual(['[0].mapping must have a rule']);
    const claimsOf = (claims: object) => problemsOf({ ...good, mapping: [{ ...rule, claims }] });
    expect(claimsOf({})).toEqual([expect.stringContaining('[0].mapping[0].claims must have a claim')]);
    expect(claimsOf({ ref: '**' })).toEqual([
      expect.stringContaining('[0].mapping[0].claims.ref must have more than *'),
    ]);
  });

  it.each([
    { ref: 'refs/heads/main' },
    { repository: '*/infra' },
    { repository: 'acme*' },
    { sub: 'repo:*:environment:production' },
    { sub: 'environment:production' },
    { sub: 'ref:refs/heads/*' },
    { job_workflow_ref: 'acme/infra/.github/workflows/deploy.yml@refs/heads/main' },
  ])('of an issuer for everybody does not let in everybody by %j', (claims) => {
    const provider = { ...good, mapping: [{ ...rule, claims }] };
    expect(problemsOf({ ...provider, issuer: GITHUB })).toEqual([expect.stringContaining('must name the owner')]);
    expect(problemsOf(provider)).toEqual([]);
  });

  it.each([{ repository: 'acme/*' }, { sub: 'repo:acme/infra:*' }, { repository_owner_id: '7', ref: '*main' }])(
    'of an issuer for everybody takes %j, which names the owner',
    (claims) => {
      expect(problemsOf({ ...good, issuer: GITHUB, mapping: [{ ...rule, claims }] })).toEqual([]);
    },
  );

  it('of gitlab.com takes a subject that begins with the project, and no other', () => {
    const ofSubject = (sub: string) =>
      problemsOf({ ...good, issuer: 'https://gitlab.com', mapping: [{ ...rule, claims: { sub } }] });
    expect(ofSubject('project_path:acme/infra:*')).toEqual([]);
    for (const sub of ['project_path:acme*', 'ref_type:branch:ref:main']) {
      expect(ofSubject(sub)).toEqual([expect.stringContaining('or a sub with project_path:')]);
    }
  });

  it('gives an account one role, so that no token gets the role of another', () => {
    const mapping = [rule, { ...rule, claims: { ref: 'x' } }, { ...rule, claims: { ref: 'y' }, role: 'owner' }];
    expect(problemsOf({ ...good, mapping })).toEqual([
      '[0].mapping[2].role differs from another rule of the account deploy; name another account',
    ]);
    expect(problemsOf({ ...good, mapping: [rule, { ...rule, workspace: 'beta', role: 'owner' }] })).toEqual([]);
  });

  it('has public keys or an address of keys, and no secret', () => {
    const key = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' };
    expect(problemsOf({ ...good, jwks: { keys: [key] } })).toEqual([]);
    const jwksUri = 'https://ci.example.com/keys';
    expect(problemsOf({ ...good, jwks: { keys: [key] }, jwks_uri: jwksUri })).toEqual([
      '[0].jwks and jwks_uri exclude each other',
    ]);
    expect(problemsOf({ ...good, jwks: { keys: [{ ...key, d: 'hunter2' }] } })).toEqual([
      '[0].jwks.keys[0] must be a public key, without d',
    ]);
    expect(problemsOf({ ...good, jwks: { keys: [{ kty: 'oct', k: 'hunter2' }] } })).toEqual([
      '[0].jwks.keys[0].kty must be RSA, EC or OKP',
    ]);
    expect(problemsOf({ ...good, jwks_uri: 'http://ci.example.com/keys' })).toHaveLength(1);
  });

  it('may have the issuer of people, but not the audience of their tokens', () => {
    const people = { id: 'okta', issuer: good.issuer, client_id: 'x', client_secret: 'hunter2', button_text: 'Log in' };
    expect(problemsOf(people, good)).toEqual([]);
    expect(problemsOf(people, { ...good, audience: 'x' })).toEqual([
      '[1].audience is the client_id of a provider for people; choose another',
    ]);
    expect(problemsOf(people, { ...good, id: 'okta' })).toEqual(['[1].id is also used by another provider']);
    expect(problemsOf({ ...good, kind: 'robots' })).toEqual(['[0].kind must be people or machines']);
  });

  it('is configured by the examples of docs/machine-login.md', () => {
    const page = readFileSync(new URL('../../../../../docs/machine-login.md', import.meta.url), 'utf8');
    const examples = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json]) => json!);
    expect(examples).toHaveLength(3);
    for (const json of examples) expect(oidcProviders.safeParse(json).error?.issues).toBeUndefined();
  });
});
