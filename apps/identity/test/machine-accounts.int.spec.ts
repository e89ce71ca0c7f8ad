import { beforeAll, describe, expect, it } from '@jest/globals';
import { fromWireRole } from '@tollkeeper/contracts';
import { eventually, useMongo } from '@tollkeeper/testing';
import { runUserCommand } from '../src/user.command.ts';
import { PASSWORD } from './identity.stack.ts';
import { type Entered, SUBJECT, useIssuer } from './machine.stack.ts';
import { PUBLIC_URL, useSingleSignOn } from './sso.stack.ts';

const mongo = useMongo();
const issuer = useIssuer(() => identity.clock.now);

const rule = (account: string, role: string, ref: string, workspace = 'alpha') => ({
  ...{ account, role, workspace },
  claims: { repository: 'acme/*', ref },
});
const identity = useSingleSignOn(mongo, () => [
  issuer.settings({
    mapping: [
      rule('deploy', 'owner', 'refs/heads/main'),
      rule('deploy', 'owner', 'refs/tags/v*'),
      rule('deploy', 'member', 'refs/heads/main', 'beta'),
      rule('preview', 'member', '*/merge'),
      rule('passing', 'admin', 'passing'),
      rule('known', 'admin', 'known'),
    ],
  }),
]);

let alpha: Awaited<ReturnType<typeof identity.ensureOwner>>;
let beta: typeof alpha;
beforeAll(async () => {
  const workspace = (slug: string) => ({ slug, name: slug });
  alpha = await identity.ensureOwner({ email: 'root@corp.test', password: PASSWORD, workspace: workspace('alpha') });
  beta = await identity.ensureOwner({ email: 'beta@corp.test', password: PASSWORD, workspace: workspace('beta') });
});

async function exchange(change: Record<string, unknown> = {}, more: object = {}) {
  const body = { id_token: await issuer.token(change), ...more };
  return identity.call('post', '/api/v1/auth/oidc/ci:exchange', { body });
}
const enter = async (change: Record<string, unknown> = {}, more: object = {}) =>
  (await exchange(change, more)).body as Entered;
const asOwner = (userId: string) => ({ userId, tenantId: alpha.tenantId, role: 'owner' as const });
const rolesIn = async (session: string) =>
  (await identity.resolve(session))?.memberships.map(({ slug, role }) => `${slug} ${fromWireRole(role)}`);
const call = async (...given: Parameters<typeof identity.call>) => (await identity.call(...given)).status;

interface Listed {
  user_id: string;
  service_account?: object;
}
async function members(): Promise<Listed[]> {
  const { body } = await identity.call('get', '/api/v1/members', { as: asOwner(alpha.userId) });
  return (body as { items: Listed[] }).items;
}

describe('a service account', () => {
  it('is one member of its workspace for all tokens of its rules, with its role and the subject of the last token', async () => {
    const { user } = await enter();
    const tag = { ref: 'refs/tags/v1', sub: 'repo:acme/infra:ref:refs/tags/v1' };
    expect((await enter(tag)).user.id).toBe(user.id);
    const found = (await members()).filter(({ service_account: known }) => known !== undefined);
    expect(found).toEqual([
      {
        ...{ user_id: user.id, name: 'deploy', login_name: user.login_name, email: '', email_verified: false },
        ...{ role: 'owner', source: 'machine', joined_at: expect.any(String) },
        service_account: { provider: 'ci', issuer: issuer.url(), subject: tag.sub },
      },
    ]);
    const preview = await enter({ ref: 'refs/pull/7/merge' });
    expect([preview.user.name, await rolesIn(preview.session)]).toEqual(['preview', ['alpha member']]);
  });

  it('belongs to one workspace: the named one, or that of the first rule', async () => {
    const [first, named] = [await enter(), await enter({}, { workspace: 'beta' })];
    expect(await rolesIn(first.session)).toEqual(['alpha owner']);
    expect(await rolesIn(named.session)).toEqual(['beta member']);
    expect(named.user.id).not.toBe(first.user.id);
    const { status, body } = await exchange({}, { workspace: 'gamma' });
    expect([status, JSON.stringify(body)]).toEqual([403, expect.stringContaining('for the workspace gamma')]);
  });

  it('gets the role of its rule at each login, and loses its access with the membership', async () => {
    const { user, session } = await enter({ ref: 'known' });
    const as = asOwner(alpha.userId);
    expect(await call('patch', `/api/v1/members/${user.id}`, { as, body: { role: 'member' } })).toBe(200);
    expect(await rolesIn(session)).toEqual(['alpha member']);
    await enter({ ref: 'known' });
    expect(await rolesIn(session)).toEqual(['alpha admin']);
    expect(await call('delete', `/api/v1/members/${user.id}`, { as })).toBe(204);
    expect(await rolesIn(session)).toEqual([]);
  });

  it('cannot log in with a password, nor get one', async () => {
    const { user } = await enter();
    for (const password of [PASSWORD, ' ']) expect((await identity.login(user.login_name, password)).status).toBe(401);
    const config = { MONGODB_URI: mongo.uri, MONGODB_DATABASE: identity.database, PUBLIC_URL };
    const reset = runUserCommand(['reset-link', '--email', user.login_name], { config, logger: identity.logs.logger });
    await expect(reset).rejects.toThrow('No user has the login name');
    const body = { current_password: PASSWORD, new_password: 'nobody guesses this one' };
    expect(await call('post', '/api/v1/auth/password', { as: asOwner(user.id), body })).toBe(400);
  });

  it('cannot outlast its rule as an owner: it invites nobody, changes no member, and stays in its workspace', async () => {
    const { user } = await enter();
    const as = asOwner(user.id);
    const invitation = { email: 'friend@corp.test', role: 'owner' };
    expect(await call('post', '/api/v1/invitations', { as, body: invitation })).toBe(403);
    expect(await call('post', '/api/v1/members', { as, body: invitation })).toBe(403);
    const path = `/api/v1/members/${alpha.userId}`;
    expect(await call('patch', path, { as, body: { role: 'member' } })).toBe(403);
    expect(await call('delete', path, { as })).toBe(403);
    const workspace = { slug: 'own', name: 'Own' };
    expect(await call('post', '/api/v1/workspaces', { as, body: workspace })).toBe(403);
    const owner = { ...beta, email: 'beta@corp.test', slug: 'beta', caller: { ...beta, role: 'owner' as const } };
    const token = await identity.invite(owner, 'admin', 'friend@corp.test');
    expect((await identity.accept(token, { as })).status).toBe(403);
    expect(await call('patch', '/api/v1/workspace', { as, body: { name: 'Alpha' } })).toBe(200);
  });

  it('is not the owner whom a workspace must have', async () => {
    const { user } = await enter();
    const as = asOwner(alpha.userId);
    expect(await call('patch', `/api/v1/members/${alpha.userId}`, { as, body: { role: 'member' } })).toBe(409);
    expect(await call('delete', '/api/v1/members/me', { as })).toBe(409);
    expect(await call('delete', `/api/v1/members/${user.id}`, { as })).toBe(204);
  });
});

describe('the audit log of a workspace', () => {
  it('says which token a service account came in with, and which was used again', async () => {
    const token = await issuer.token({ ref: 'passing' });
    const path = '/api/v1/auth/oidc/ci:exchange';
    const { body } = await identity.call('post', path, { body: { id_token: token } });
    expect(await call('post', path, { body: { id_token: token } })).toBe(401);
    const { user, session } = body as Entered;
    const of = await eventually(async () => {
      const found = (await identity.audited(alpha.tenantId, 1)).filter(({ target }) => target.id === user.id);
      expect(found).toHaveLength(3);
      return found;
    });
    const from = { provider: 'ci', subject: SUBJECT };
    expect(
      of.map(({ action, actor, changes }) => [
        ...[action, actor.type, actor.name],
        Object.fromEntries(changes.map(({ field, to }) => [field, to])),
      ]),
    ).toEqual([
      ['member.add', 'system', 'Tollkeeper (machine-login)', { role: 'admin' }],
      ['session.create', 'user', 'passing', from],
      ['session.refuse', 'user', 'passing', { ...from, reason: 'token_replayed' }],
    ]);
    for (const { address, requestId } of of) {
      expect([address, requestId]).toEqual([expect.stringMatching(/^2001:db8:/), expect.stringMatching(/^req_/)]);
    }
    const written = JSON.stringify(of) + identity.logs.text();
    for (const secret of [session, token.slice(-40)]) expect(written).not.toContain(secret);
  });
});
