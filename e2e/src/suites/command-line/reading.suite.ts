import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { CommandLineStage } from '../../command-line/command-line.stage.ts';
import { guardBlocked, spendSettled } from '../../events.ts';
import { outputOf } from '../../example.shell.ts';
import { rememberSecret } from '../../secrets.ts';
import { postEvents, reportEvents } from '../../workspace.ts';

/** What people and programs read of a workspace, and change in it. */
export function describeCommandLineReading({ deployment, receiver, cli, proxy, withFile }: CommandLineStage): void {
  describe('commands', () => {
    it('shows people tables of what is there, and programs the answers of the API', async () => {
      const slug = `read-${randomBytes(4).toString('hex')}`;
      const rule = 'name: Any block, severity: high, rule_kind: first_occurrence, window_seconds: 60';
      const text = `version: 1
workspace: { slug: ${slug}, daily_budget_usd: 10 }
agents: [{ agent_id: reader, display_name: Reader, daily_budget_usd: 2 }]
budgets: [{ name: Per model, each: model, period: { kind: day }, limit_usd: 1 }]
channels: [{ name: Hook, channel_type: webhook, config: { url: "${receiver().url}" } }]
rules: [{ ${rule}, event_types: [guard.blocked], channels: [Hook] }]
`;
      expect(await withFile(['apply'], text)).toMatchObject({ code: 0 });
      const of = (...args: string[]) => cli.outputOf([...args, '-w', slug]);
      const json = async <T>(...args: string[]) => JSON.parse(await of(...args, '-o', 'json')) as T;
      const key = (await of('keys', 'create', 'reading', '--role', 'developer')).trim();
      rememberSecret(key);

      const before = proxy().exchanges.length;
      const tail = cli.start(['events', 'tail', '--count', '3', '-o', 'json', '-w', slug]);
      let tailed = '';
      tail.stdout?.on('data', (chunk: Buffer) => (tailed += chunk));
      const tailEnds = once(tail, 'exit');
      // It shows what happens after its first four reads.
      await eventually(() => expect(proxy().exchanges.length - before).toBeGreaterThanOrEqual(4));
      const spent = spendSettled({ agentId: 'reader', amountMicros: 1_500_000 });
      await reportEvents(deployment(), key, [spent, guardBlocked('run-1', 'reader')]);
      const alerts = await eventually(async () => {
        const { items } = await json<{ items: { id: string; status: string }[] }>('alerts', 'list');
        expect(items.map(({ status }) => status)).toEqual(['firing']);
        return items;
      });
      await tailEnds;
      const types = tailed
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { type: string }).type);
      expect(types.toSorted()).toEqual(['alert', 'blocked', 'settled']);

      expect(await of('spend')).toMatch(/^\$1\.50 for 1 settled calls$/m);
      expect(await of('spend', '--by', 'model')).toMatch(/^test-model +\$1\.50 +100% +1$/m);
      expect(await of('spend', '--by', 'call', '--export', 'csv')).toMatch(/^occurred_at,.*\r\n\S+,1\.500000,.*\r\n$/);
      const exported = join(cli.folder(), 'spend.csv');
      await of('spend', '--by', 'agent', '--export', 'csv', '--file', exported);
      expect(await readFile(exported, 'utf8')).toMatch(/^date,.*\r\n\S+,reader,Reader,,1\.500000,1500000,1,/);
      const refused = await cli.run(['spend', '--by', 'agent', '--export', 'focus', '--file', exported, '-w', slug]);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('group_by: cannot be combined')]);
      expect(await cli.run(['spend', '--file', exported, '-w', slug])).toMatchObject({ code: 3 });
      const statement = await of('statement', '--month', spent.time.slice(0, 'yyyy-mm'.length));
      expect(statement).toMatch(/^\$1\.50 for 1 calls, \$0\.00 the month before$/m);
      expect(statement).toMatch(/^Reader +\$1\.50 +\$0\.00 +100%$/m);
      expect(statement).toMatch(/^guard +1 +/m);
      expect(await of('top')).toMatch(/^reader +Reader +\$1\.50 +100% +1 +1 +\d{4}-/m);
      expect(await of('blocked', '--zone', 'Asia/Tokyo')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +guard +reader +/m);
      expect(await of('agents')).toMatch(/^reader +Reader +–$/m);
      expect(await of('rules')).toMatch(/Any block +high +first_occurrence +active +\d{4}-/);
      expect(await of('keys', 'list')).toMatch(/reading +developer/);
      expect(await of('members', 'list')).toContain(deployment().owner.email);
      expect(await of('audit', '--limit', '100')).toMatch(/key\.create +reading/);
      const link = await of('members', 'invite', 'cleo@example.com', '--role', 'member');
      rememberSecret(new URL(link.trim()).hash.slice(1));

      await of('budgets', 'set', 'Per model', '--limit', '3');
      await of('budgets', 'set', 'agent:reader', '--limit', '1.25');
      await of('budgets', 'set', 'workspace', '--remove-limit');
      const { items } = await json<{ items: { id: string; limit_micros: number }[] }>('budgets', 'get');
      expect(items.map(({ id, limit_micros }) => [id.replace(/_(?!agent).*/, ''), limit_micros])).toEqual([
        ['bud', 3_000_000],
        ['bud_agent.reader', 1_250_000],
      ]);
      await eventually(async () =>
        expect(await of('limits')).toMatch(/^Agent reader .* \$1\.50 +\$0\.00 +\$1\.25 +120% /m),
      );
      expect(await of('budgets', 'get', 'Per model')).toMatch(/Per model +\$3\.00 +day +model +deny +active/);
      expect(await cli.run(['budgets', 'set', 'Nothing', '--limit', '1', '-w', slug])).toMatchObject({ code: 1 });

      expect(await of('channels', 'test', 'Hook')).toMatch(/^The destination of Hook answered 2\d\d\.$/m);
      const id = alerts[0]?.id ?? '';
      expect(await of('alerts', 'ack', id)).toBe(`${id} is acknowledged.\n`);
      expect(await of('alerts', 'resolve', id)).toBe(`${id} is resolved.\n`);
      expect(await of('pauses', 'create', 'agent:reader', '--reason', 'Loops', '--for', '8h')).toMatch(
        /^agent:reader is paused until \d{4}-/,
      );
      await of('pauses', 'create', 'label:team=growth', '--reason', 'Month is spent');
      expect(await of('pauses', 'list')).toMatch(/^pau_\w+ +label:team=growth +.* +Month is spent$/m);
      expect(await of('pauses', 'end', 'agent:reader')).toBe('agent:reader is resumed.\n');
      expect(await cli.run(['pauses', 'end', 'agent:reader', '-w', slug])).toMatchObject({ code: 1 });
      expect(await cli.run(['pauses', 'create', 'reader', '--reason', 'x', '-w', slug])).toMatchObject({ code: 3 });
      const raised = await of('raises', 'ask', 'bud_agent.reader', '--extra', '1', '--for', '8h', '--reason', 'Launch');
      expect(raised).toMatch(/^Reader may spend \$1\.00 more until \d{4}-/);
      const raises = await of('raises', 'list', '--state', 'active');
      expect(raises).toMatch(/^rai_\w+ +active +Reader +\$1\.00 +.* +Launch$/m);
      const raiseId = /rai_\w+/.exec(raises)?.[0] ?? '';
      expect(await cli.run(['raises', 'approve', raiseId, '--extra', '2', '-w', slug])).toMatchObject({ code: 1 });
      expect(await cli.run(['raises', 'decline', raiseId, '--reason', 'No', '-w', slug])).toMatchObject({ code: 1 });
      expect(await of('raises', 'end', raiseId)).toBe('Reader has its own limit again.\n');
      const keys = await json<{ items: { id: string; name: string; revoked_at: string | null }[] }>('keys', 'list');
      const created = keys.items.find(({ name }) => name === 'reading');
      await of('keys', 'revoke', created?.id ?? '');
      await eventually(async () => expect((await postEvents(deployment(), key, [])).status).toBe(401));
    });

    it('completes commands, options and their values in bash', async () => {
      const complete = async (...words: string[]) => {
        const line = words.map((word) => `'${word}'`).join(' ');
        const script = `source <(tollkeeper completion bash); COMP_WORDS=(tollkeeper ${line}); COMP_CWORD=${words.length}; _tollkeeper; printf '%s\\n' "\${COMPREPLY[@]}"`;
        return (await outputOf(script, cli.folder(), cli.environment())).trim().split('\n');
      };
      expect(await complete('al')).toEqual(['alerts']);
      expect(await complete('keys', 're')).toEqual(['revoke']);
      expect(await complete('apply', '--pr')).toEqual(['--prune']);
      expect(await complete('keys', 'create', 'name', '--role', '')).toEqual(['read_only', 'developer', 'admin']);
    });
  });
}
