import { beforeAll, describe, expect, it } from '@jest/globals';
import { fromWireRole } from '@tollkeeper/contracts';
import { useMongo } from '@tollkeeper/testing';
import { PASSWORD } from './identity.stack.ts';
import { type Browser, locationOf, useProvider, useSingleSignOn } from './sso.stack.ts';

const mongo = useMongo();
const provider = useProvider();

const MAPPING = [
  { claim: 'groups', value: 'owners', workspace: 'alpha', role: 'owner' },
  { claim: 'groups', value: 'staff', workspace: 'alpha', role: 'member' },
];

describe('the audit log of a workspace has records, about single sign-on,', () => {
  const settings = { OIDC_SIGN_UP: 'true', OIDC_STRICT: 'true' };
  const sso = useSingleSignOn(mongo, () => [provider().settings({ mapping: MAPPING })], settings);
  let alpha: Awaited<ReturnType<typeof sso.ensureOwner>>;
  beforeAll(async () => {
    const workspace = { slug: 'alpha', name: 'Alpha' };
    alpha = await sso.ensureOwner({ email: 'root@corp.test', password: PASSWORD, workspace });
  });

  async function logIn(name: string, groups: string[]): Promise<{ browser: Browser; path: string; link: string }> {
    await provider().setPeople({ [name]: { email: `${name}@corp.test`, email_verified: true, name, groups } });
    const browser = sso.newBrowser();
    const location = locationOf(await browser.logIn(name));
    return { browser, path: location.pathname, link: `/api/v1/auth/oidc/links/${location.searchParams.get('link')}` };
  }

  /** The records about one user in a workspace, once it has `count` more than before. */
  const from = { known: 0 };
  async function records(count: number) {
    const all = await sso.audited(alpha.tenantId, from.known + count);
    const found = all.slice(from.known);
    from.known = all.length;
    const what = found.map(({ action, actor, changes }) => [
      action,
      actor.id,
      Object.fromEntries(changes.map((change) => [change.field, [change.from, change.to]])),
    ]);
    return { found, what };
  }

  it('of a first log-in, of each change by the mapping, and of who is let in no more', async () => {
    await records(1);
    const { browser } = await logIn('ann', ['staff']);
    const session = await sso.resolve(browser.cookies.get('gw_session') ?? '');
    const userId = session?.userId ?? '';
    expect(session?.memberships.map(({ role }) => fromWireRole(role))).toEqual(['member']);
    const first = await records(2);
    const by = { provider: [null, 'try'] };
    expect(first.what).toEqual([
      ['member.add', 'single-sign-on', { role: [null, 'member'] }],
      ['session.create', userId, by],
    ]);
    const [added, opened] = first.found;
    expect(added).toMatchObject({ actor: { type: 'system' }, target: { type: 'member', id: userId, name: 'ann' } });
    expect(opened).toMatchObject({ actor: { type: 'user', name: 'ann' }, target: { type: 'user', id: userId } });
    for (const { address, requestId } of first.found) {
      expect([address, requestId]).toEqual([expect.stringMatching(/^2001:db8:/), expect.stringMatching(/^req_/)]);
    }

    await logIn('ann', ['owners']);
    const owner = { userId, tenantId: alpha.tenantId, role: 'owner' as const };
    await sso.call('post', '/api/v1/invitations', { as: owner, body: { email: 'x@corp.test', role: 'member' } });
    await logIn('ann', ['staff']);
    await logIn('ann', ['staff']);
    expect((await logIn('ann', ['other'])).path).toBe('/login/failed');
    expect((await records(8)).what).toEqual([
      ['member.role.change', 'single-sign-on', { role: ['member', 'owner'] }],
      ['session.create', userId, by],
      ['invitation.create', userId, expect.anything()],
      ['member.role.change', 'single-sign-on', { role: ['owner', 'member'], invitations_withdrawn: [null, 1] }],
      ['session.create', userId, by],
      ['session.create', userId, by],
      ['session.refuse', userId, { ...by, reason: [null, 'not_mapped'] }],
      ['member.remove', 'single-sign-on', { role: ['member', null] }],
    ]);
    expect(await sso.collection('invitations').countDocuments({ email: 'x@corp.test' })).toBe(0);
  });

  it('of a link, and of wrong passwords that were to prove the account', async () => {
    await sso.collection('members').updateOne({ userId: alpha.userId }, { $set: { source: 'manual' } });
    const { browser, link } = await logIn('root', ['staff']);
    const prove = (password: string) => browser.ask('post', `${link}:prove`, { login: 'root@corp.test', password });
    expect((await prove('not the password')).status).toBe(401);
    expect((await prove(PASSWORD)).status).toBe(200);
    const { found, what } = await records(3);
    const by = { provider: [null, 'try'] };
    expect(what).toEqual([
      ['session.refuse', alpha.userId, {}],
      ['user.provider.link', alpha.userId, { ...by, subject: [null, 'root'] }],
      ['session.create', alpha.userId, by],
    ]);
    const secrets = [
      browser.cookies.get('gw_session'),
      browser.cookies.get('gw_oidc'),
      PASSWORD,
      link.split('/').at(-1),
    ];
    for (const secret of secrets) expect(JSON.stringify(found)).not.toContain(secret);
  });
});
