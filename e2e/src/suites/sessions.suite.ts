import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type ApiClient, type ApiRequest, anonymous, createClient, logIn } from '../api.client.ts';
import type { TargetOf } from '../target.ts';
import { acceptance, invite, newMember, newWorkspace } from '../workspace.ts';

const LOGIN = '/api/v1/auth/login';
const ME = '/api/v1/auth/me';

export function describeSessions(target: TargetOf): void {
  describe('sessions', () => {
    let owner: ApiClient;
    const post = (body: unknown) => anonymous(target()).call({ method: 'POST', path: LOGIN, body });

    beforeAll(async () => {
      owner = await logIn(target(), target().owner);
    });

    it('log in answers the user with their workspaces, and `me` the same', async () => {
      const answer = await post(target().owner);
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        user: { email: target().owner.email },
        workspaces: expect.arrayContaining([
          expect.objectContaining({ slug: target().workspace, role: 'owner', timezone: 'UTC' }),
        ]),
      });
      expect(await owner.expect({ path: ME })).toEqual(answer.body);
    });

    it('the cookie is kept from scripts and from other sites', async () => {
      const { headers } = await post(target().owner);
      const [cookie] = headers['set-cookie'] ?? [];
      expect(cookie).toMatch(/^gw_session=[\w-]{43};/);
      expect(cookie).toMatch(/HttpOnly/i);
      expect(cookie).toMatch(/SameSite=Lax/i);
      expect(cookie).toMatch(/Path=\//i);
      expect(cookie).not.toMatch(/Domain/i);
    });

    it('a wrong e-mail and a wrong password are answered alike', async () => {
      const wrong = { password: 'not-the-Passw0rd-here' };
      const answers = await Promise.all([
        post({ ...wrong, email: target().owner.email }),
        post({ ...wrong, email: 'nobody@e2e.example.com' }),
      ]);
      const seen = answers.map(({ status, body }) => ({ status, ...(body as object), request_id: '' }));
      expect(seen[0]).toMatchObject({ status: 401, code: 'unauthenticated' });
      expect(seen[0]).toEqual(seen[1]);
    });

    it('a session id that the server did not give out is neither accepted nor adopted', async () => {
      const forged = createClient(target(), `gw_session=${'A'.repeat(43)}`);
      expect((await forged.call({ path: ME })).status).toBe(401);
      const { headers } = await forged.call({ method: 'POST', path: LOGIN, body: target().owner });
      expect(headers['set-cookie']?.[0]).not.toContain('A'.repeat(43));
      expect((await forged.call({ path: ME })).status).toBe(401);
    });

    it('a logout ends the session at once, and no other one', async () => {
      const [leaving, staying] = [await logIn(target(), target().owner), owner];
      expect((await leaving.call({ path: ME })).status).toBe(200);
      expect((await leaving.call({ method: 'POST', path: '/api/v1/auth/logout' })).status).toBe(204);
      expect((await leaving.call({ path: ME })).status).toBe(401);
      expect((await staying.call({ path: ME })).status).toBe(200);
    });

    it.each(['demoted', 'removed'])('an owner who was just %s leaves nothing behind', async (how) => {
      const workspace = await newWorkspace(owner);
      const { path } = workspace;
      const fallen = await newMember(target(), owner, workspace, 'owner');
      const { user } = await fallen.expect<{ user: { id: string; email: string } }>({ path: ME });
      const budget = path(`/workspaces/${workspace.id}/budgets/workspace`);
      const traces = [path('/management/workspace-keys'), budget, path('/alerts/channels'), path('/members')];
      const invitation = await invite(fallen, workspace, 'owner');
      const look = (as: ApiClient) => Promise.all(traces.map((at) => as.expect({ path: at })));
      // As an owner; the gateway caches that for some seconds.
      await look(fallen);
      const member = path(`/members/${user.id}`);
      if (how === 'removed') await owner.expect({ method: 'DELETE', path: member, status: 204 });
      else await owner.expect({ method: 'PATCH', path: member, body: { role: 'member' } });
      const before = await look(owner);

      const [keys, , channels, members] = traces as [string, string, string, string];
      const config = { url: 'https://hooks.example.com/in' };
      const attempts = await Promise.all([
        fallen.call({ method: 'POST', path: keys, body: { name: 'For good', role: 'admin' } }),
        fallen.call({ method: 'PUT', path: budget, body: { daily_budget_usd_micros: 1 } }),
        fallen.call({ method: 'POST', path: channels, body: { channel_type: 'webhook', config } }),
        fallen.call({ method: 'POST', path: members, body: { email: `friend-of-${user.email}`, role: 'owner' } }),
        fallen.call({ method: 'PATCH', path: path('/workspace'), body: { name: 'Mine' } }),
      ]);
      expect(attempts.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
      expect((await fallen.call(acceptance(invitation, {}))).status).toBe(404);
      expect(await look(owner)).toEqual(before);
    });

    it('finance of an organisation reads each of its workspaces, until somebody takes the role away', async () => {
      const [first, second] = [await newWorkspace(owner), await newWorkspace(owner)];
      const finance = await newMember(target(), owner, first, 'member');
      const { user } = await finance.expect<{ user: { id: string } }>({ path: ME });
      const create = { method: 'POST', path: '/api/v1/organisations', body: { name: 'Acme' }, status: 201 };
      const { id } = await owner.expect<{ id: string }>(create);
      const organisation = `/api/v1/organisations/${id}`;
      const workspaces = [first, second].map(({ slug }) => `${organisation}/workspaces/${slug}`);
      const member = `${organisation}/members/${user.id}`;
      for (const path of workspaces) await owner.expect({ method: 'PUT', path, status: 204 });
      await owner.expect({ method: 'PUT', path: member, body: { role: 'finance' } });

      const statusOf = async (call: ApiRequest) => (await finance.call(call)).status;
      await eventually(async () => expect(await statusOf({ path: second.path('/audit') })).toBe(200));
      const agent = { agent_id: 'x', display_name: 'X' };
      expect(await statusOf({ method: 'POST', path: second.path('/agents'), body: agent })).toBe(403);
      await owner.expect({ method: 'DELETE', path: member, status: 204 });
      await eventually(async () => expect(await statusOf({ path: second.path('/audit') })).toBe(403));
      for (const path of [...workspaces, organisation]) await owner.expect({ method: 'DELETE', path, status: 204 });
    });

    it('an invitation lets a person in once, and a member leaves of their own accord', async () => {
      const workspace = await newWorkspace(owner);
      const token = await invite(owner, workspace, 'admin');
      const guest = await newMember(target(), owner, await newWorkspace(owner), 'member');
      const offer = { path: `/api/v1/invitations/${token}` };
      const seen = { role: 'admin', workspace: { slug: workspace.slug } };
      expect((await anonymous(target()).call(offer)).body).toMatchObject(seen);
      expect((await guest.call({ path: workspace.path('/agents') })).status).toBe(403);
      await guest.expect(acceptance(token, {}));
      expect((await guest.call({ path: workspace.path('/agents') })).status).toBe(200);
      expect((await guest.call({ path: workspace.path('/members') })).status).toBe(403);
      expect((await guest.call(offer)).status).toBe(404);
      expect((await guest.call({ method: 'DELETE', path: workspace.path('/members/me') })).status).toBe(204);
      expect((await guest.call({ path: workspace.path('/agents') })).status).toBe(403);
    });

    it.each([
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ])('a write that a page of another site sends is refused: %j', async (headers) => {
      const body = { slug: 'from-elsewhere', name: 'From elsewhere' };
      const answer = await owner.call({ method: 'POST', path: '/api/v1/workspaces', body, headers });
      expect(answer).toMatchObject({ status: 403, body: { code: 'cross_site_request' } });
    });
  });
}
