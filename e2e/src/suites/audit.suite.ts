import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type ApiClient, logIn } from '../api.client.ts';
import type { TargetOf } from '../target.ts';
import { newKey, newMember, newWorkspace, type TestWorkspace } from '../workspace.ts';

interface AuditRecord {
  id: string;
  action: string;
  actor: { type: string; id: string; name: string };
  target: { type: string; id: string; name: string };
  address: string | null;
  request_id: string | null;
  sequence: number;
  hash: string;
  previous_hash: string | null;
}

export function describeAudit(target: TargetOf): void {
  describe('the audit log', () => {
    let owner: ApiClient;
    let workspace: TestWorkspace;

    const list = async (query = '') =>
      (await owner.expect<{ items: AuditRecord[] }>({ path: workspace.path(`/audit${query}`) })).items;
    const recorded = (query: string, count: number) =>
      eventually(async () => {
        const items = await list(query);
        if (items.length < count) throw new Error(`${items.length} of ${count} records`);
        return items;
      });

    beforeAll(async () => {
      owner = await logIn(target(), target().owner);
      workspace = await newWorkspace(owner);
    });

    it('names the person, the address and the request, whatever the client says about them', async () => {
      const { user } = await owner.expect<{ user: { id: string; name: string } }>({ path: '/api/v1/auth/me' });
      const headers = {
        'x-request-id': 'audited-request-1',
        'x-tollkeeper-client': 'forged',
        'x-tollkeeper-caller': 'forged',
      };
      const body = { name: 'audited', role: 'read_only' };
      const path = workspace.path('/management/workspace-keys');
      const { id } = await owner.expect<{ id: string }>({ method: 'POST', path, body, headers, status: 201 });
      const [record] = await recorded(`?target_id=${id}`, 1);
      expect(record).toMatchObject({
        action: 'key.create',
        actor: { type: 'user', id: user.id, name: user.name },
        target: { type: 'key', id, name: 'audited' },
        address: expect.stringMatching(/^(::ffff:)?127\.0\.0\.1$|^::1$/),
        request_id: 'audited-request-1',
      });
    });

    it('records changes in every service, in one chain', async () => {
      await owner.expect({ method: 'POST', path: workspace.path('/agents'), body: AGENT, status: 201 });
      await owner.expect({
        method: 'PUT',
        path: `/api/v1/workspaces/${workspace.id}/budgets/agents/planner`,
        body: { daily_budget_usd_micros: 5 },
      });
      const channel = { channel_type: 'webhook', config: { url: 'https://hooks.example.com/in' } };
      await owner.expect({ method: 'POST', path: workspace.path('/alerts/channels'), body: channel, status: 201 });
      await newKey(owner, workspace.slug, 'admin');
      const records = await eventually(async () => {
        const items = await list('?limit=100');
        const actions = new Set(items.map(({ action }) => action));
        for (const action of ACTIONS) if (!actions.has(action)) throw new Error(`${action} is missing`);
        return items;
      });
      const chain = records.toSorted((a, b) => a.sequence - b.sequence);
      expect(chain.map(({ sequence }) => sequence)).toEqual(chain.map((_, index) => index + 1));
      expect(chain.map((record) => record.previous_hash)).toEqual([
        null,
        ...chain.slice(0, -1).map(({ hash }) => hash),
      ]);
    });

    it('streams the same records as lines', async () => {
      const { items } = await owner.expect<{ items: AuditRecord[] }>({ path: workspace.path('/audit?limit=100') });
      const { text, headers } = await owner.call({ path: workspace.path('/audit?format=ndjson') });
      expect(headers['content-type']).toMatch(/^application\/x-ndjson/);
      const lines = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as AuditRecord);
      expect(lines.slice(-items.length)).toEqual(items);
    });

    it('is for owners of the workspace alone', async () => {
      const admin = await newMember(target(), owner, workspace, 'admin');
      expect((await admin.call({ path: workspace.path('/audit') })).status).toBe(403);
      const stranger = await newWorkspace(owner);
      const [record] = await list('?limit=1');
      const path = stranger.path(`/audit/${record!.id}`);
      expect((await owner.call({ path })).status).toBe(404);
    });
  });
}

const AGENT = { agent_id: 'planner', display_name: 'Planner' };
const ACTIONS = ['workspace.create', 'agent.create', 'budget.agent.set', 'channel.create', 'key.create'];
