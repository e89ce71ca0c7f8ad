import { beforeAll, describe, expect, it } from '@jest/globals';
import { fromWireRole } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { useMongo } from '@tollkeeper/testing';
import { foreignCaller, PASSWORD } from './identity.stack.ts';
import { type Browser, locationOf, type SingleSignOn, useProvider, useSingleSignOn } from './sso.stack.ts';

const mongo = useMongo();
const provider = useProvider();
const second = useProvider({ claimsInIdToken: true });

const MAPPING = [
  { claim: 'groups', value: 'alpha-owners', workspace: 'alpha', role: 'owner' },
  { claim: 'groups', value: 'alpha-*', workspace: 'alpha', role: 'member' },
  { claim: 'groups', value: 'beta-admins', workspace: 'beta', role: 'admin' },
  { claim: 'realm_access.roles', value: 'gamma', workspace: 'gamma', role: 'member' },
  { claim: 'groups', value: 'nowhere', workspace: 'no-such-workspace', role: 'owner' },
];

const bothProviders = () => [
  provider().settings({ mapping: MAPPING }),
  second().settings({ id: 'second', mapping: [{ claim: 'groups', value: 'x', workspace: 'delta', role: 'member' }] }),
];

async function makeWorkspaces(sso: SingleSignOn): Promise<Map<string, TenantId>> {
  const made = new Map<string, TenantId>();
  for (const slug of ['alpha', 'beta', 'gamma', 'delta']) {
    const workspace = { slug, name: slug };
    made.set(slug, (await sso.ensureOwner({ email: 'root@corp.test', password: PASSWORD, workspace })).tenantId);
  }
  return made;
}

/** Logs in the person with these claims, and returns their workspaces as `slug role`. */
async function logInWith(sso: SingleSignOn, name: string, claims: Record<string, unknown>, id = 'try') {
  const browser = sso.newBrowser();
  const at = id === 'try' ? provider() : second();
  await at.setPeople({ [name]: { email: `${name}@corp.test`, email_verified: true, ...claims } });
  const response = await browser.logIn(name, { id });
  return { browser, response, workspaces: await workspacesOf(sso, browser) };
}

async function workspacesOf(sso: SingleSignOn, browser: Browser): Promise<string[]> {
  const session = await sso.resolve(browser.cookies.get('gw_session') ?? '');
  return (session?.memberships ?? []).map(({ slug, role }) => `${slug} ${fromWireRole(role)}`).sort();
}

describe('the memberships of whoever logs in', () => {
  const sso = useSingleSignOn(mongo, bothProviders, { OIDC_SIGN_UP: 'true' });
  let tenants: Map<string, TenantId>;
  beforeAll(async () => {
    tenants = await makeWorkspaces(sso);
  });

  it('follow their groups both ways, with the highest role, from userinfo or from the id_token', async () => {
    const groups = ['alpha-staff', 'alpha-owners', 'beta-admins', 'nowhere'];
    const first = await logInWith(sso, 'ann', { groups, realm_access: { roles: ['gamma'] } });
    expect(first.workspaces).toEqual(['alpha owner', 'beta admin', 'gamma member']);
    expect((await logInWith(sso, 'ann', { groups: ['alpha-staff'] })).workspaces).toEqual(['alpha member']);
    expect((await logInWith(sso, 'ann', { groups: 'alpha-staff' })).workspaces).toEqual(['alpha member']);
    expect((await logInWith(sso, 'ann', {})).workspaces).toEqual([]);
    expect((await logInWith(sso, 'ben', { groups: ['x'] }, 'second')).workspaces).toEqual(['delta member']);
  });

  it('are not changed where people gave them by hand', async () => {
    await logInWith(sso, 'cat', {});
    const cat = await sso.collection('users').findOne({ email: 'cat@corp.test' });
    const membership = { userId: String(cat?._id), role: 'admin', joinedAt: new Date() };
    await sso.collection('members').insertMany([
      { tenantId: tenants.get('alpha'), source: 'invitation', ...membership },
      { tenantId: tenants.get('beta'), source: 'manual', ...membership },
    ]);
    const before = ['alpha admin', 'beta admin'];
    expect((await logInWith(sso, 'cat', { groups: ['alpha-owners'] })).workspaces).toEqual(before);
    expect((await logInWith(sso, 'cat', {})).workspaces).toEqual(before);
  });

  it('leave a workspace its last owner', async () => {
    await logInWith(sso, 'dan', { groups: ['alpha-owners'] });
    await sso.collection('members').deleteMany({ tenantId: tenants.get('alpha'), source: { $ne: 'oidc' } });
    expect((await logInWith(sso, 'dan', { groups: ['alpha-staff'] })).workspaces).toEqual(['alpha owner']);
    await logInWith(sso, 'eve', { groups: ['alpha-owners'] });
    expect((await logInWith(sso, 'dan', { groups: ['alpha-staff'] })).workspaces).toEqual(['alpha member']);
    expect((await logInWith(sso, 'eve', {})).workspaces).toEqual(['alpha owner']);
  });

  it('of two owners who lose their groups at the same moment, one stays', async () => {
    const people = { fay: 'owner', gus: 'owner' };
    for (const name of Object.keys(people)) await logInWith(sso, name, { groups: ['alpha-owners'] });
    await sso
      .collection('members')
      .deleteMany({ tenantId: tenants.get('alpha'), userId: { $nin: await idsOf(people) } });
    const claims = (name: string) => ({ email: `${name}@corp.test`, email_verified: true });
    await provider().setPeople({ fay: claims('fay'), gus: claims('gus') });
    await Promise.all(Object.keys(people).map((name) => sso.newBrowser().logIn(name)));
    expect(await sso.collection('members').countDocuments({ tenantId: tenants.get('alpha') })).toBe(1);
  });

  it('of one person at two providers are what both of them give', async () => {
    expect((await logInWith(sso, 'hal', { groups: ['beta-admins'] })).workspaces).toEqual(['beta admin']);
    const both = ['beta admin', 'delta member'];
    expect((await logInWith(sso, 'hal', { groups: ['x'] }, 'second')).workspaces).toEqual(both);
    expect((await logInWith(sso, 'hal', { groups: ['beta-admins'] })).workspaces).toEqual(both);
    expect((await logInWith(sso, 'hal', {}, 'second')).workspaces).toEqual(['beta admin']);
  });

  it('are explained to owners: what the provider sent that this workspace asks for, and the rule that counted', async () => {
    await logInWith(sso, 'ida', { groups: ['alpha-staff', 'beta-admins'], phone_number: '+1' });
    const ida = await sso.collection('users').findOne({ email: 'ida@corp.test' });
    const tenantId = tenants.get('beta')!;
    const path = `/api/v1/members/${String(ida?._id)}/sso`;
    const { body } = await sso.call('get', path, { as: { userId: 'user_1', tenantId, role: 'owner' } });
    const { items } = body as { items: Record<string, unknown>[] };
    expect(items).toMatchObject([
      {
        provider: 'try',
        issuer: provider().issuer,
        subject: 'ida',
        claims: [
          { name: 'email', values: ['ida@corp.test'] },
          { name: 'email_verified', values: ['true'] },
          { name: 'name', values: null },
          { name: 'preferred_username', values: null },
          { name: 'groups', values: ['alpha-staff', 'beta-admins'] },
        ],
        grant: { claim: 'groups', value: 'beta-admins', role: 'admin' },
      },
    ]);
    expect(JSON.stringify(items)).not.toMatch(/eyJ|realm_access|gamma/);
    expect((await sso.call('get', path, { as: foreignCaller() })).status).toBe(404);
    expect((await sso.call('get', path, { as: { userId: 'user_1', tenantId, role: 'admin' } })).status).toBe(403);
  });

  it('are explained by whoever logged in last, of two people of one provider who are one user', async () => {
    const email = 'jo@corp.test';
    const tenantId = tenants.get('beta')!;
    await logInWith(sso, 'jo', { groups: ['beta-admins'] });
    const jo = await sso.collection('users').findOne({ email });
    for (const subject of ['jo-again', 'jo']) {
      sso.clock.now += 1_000;
      await logInWith(sso, subject, { email, groups: ['beta-admins'] });
      const path = `/api/v1/members/${String(jo?._id)}/sso`;
      const { body } = await sso.call('get', path, { as: { userId: 'user_1', tenantId, role: 'owner' } });
      expect(body.items).toMatchObject([{ subject, logged_in_at: new Date(sso.clock.now).toISOString() }]);
    }
  });

  async function idsOf(people: object): Promise<string[]> {
    const emails = Object.keys(people).map((name) => `${name}@corp.test`);
    const found = await sso
      .collection('users')
      .find({ email: { $in: emails } })
      .toArray();
    return found.map(({ _id }) => String(_id));
  }
});

describe('a log-in where the mapping is strict', () => {
  const sso = useSingleSignOn(mongo, bothProviders, { OIDC_SIGN_UP: 'true', OIDC_STRICT: 'true' });
  beforeAll(() => makeWorkspaces(sso));

  it('is refused for whoever is mapped to nothing, who loses what the mapping gave before', async () => {
    const { browser } = await logInWith(sso, 'ann', { groups: ['alpha-owners'] });
    expect(await workspacesOf(sso, browser)).toEqual(['alpha owner']);
    const later = await logInWith(sso, 'ann', { groups: ['other'] });
    expect(await later.browser.failureOf(later.response)).toEqual({
      code: 'not_mapped',
      facts: { person: 'ann@corp.test', missing: 'realm_access.roles' },
    });
    expect(await workspacesOf(sso, browser)).toEqual([]);
  });

  it('names the claims that the provider left out because there are too many values', async () => {
    const claims = { _claim_names: { groups: 'src1' } };
    const { browser, response } = await logInWith(sso, 'ben', claims);
    expect(await browser.failureOf(response)).toMatchObject({
      facts: { missing: 'groups, realm_access.roles', left_out: 'groups' },
    });
    expect(await sso.collection('users').countDocuments({ email: 'ben@corp.test' })).toBe(0);
    expect(locationOf(response).searchParams.get('request')).toMatch(/^req_/);
  });
});
