import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { CommandLineStage } from '../../command-line/command-line.stage.ts';
import { outputOf } from '../../example.shell.ts';
import { blocksOf } from '../../readme.blocks.ts';

const WORKSPACES = 50;
const BUDGETS = 20;

/** One resource of each kind, and fields of each type. */
const everything = (slug: string) => `version: 1
workspace: { slug: ${slug}, name: Growth, timezone: Europe/Berlin, tracked_labels: [team], daily_budget_usd: 100 }
agents:
  - { agent_id: night-shift, display_name: Night shift, labels: { team: growth }, daily_budget_usd: 1.5 }
plans:
  - { plan_key: basic, display_name: Basic, daily_budget_usd: 5, is_active: false }
budgets:
  - { name: Zoe, selector: { labels: { user: zoe } }, overrides: Per user, period: { kind: day }, limit_usd: 50 }
  - { name: Per user, each: "label:user", period: { kind: day }, limit_usd: 5 }
  - name: Apollo
    selector: { labels: { project: apollo }, model: claude-* }
    period: { kind: once, start: "2027-01-01T00:00:00+01:00", end: "2027-04-01T00:00:00+02:00" }
    limit_usd: 0.000125
    tell_at: [90, 50]
channels:
  - name: Ops
    channel_type: webhook
    config: { url: "https://hooks.example.com/x", signing_secret: "\${OPS_SIGNING}" }
  - { name: Chat, channel_type: chat, config: { webhook_url: "\${OPS_URL}" } }
  - { name: Team, channel_type: teams, config: { webhook_url: "\${OPS_URL}" } }
  - { name: Pager, channel_type: pagerduty, config: { routing_key: "\${PAGER_KEY}" } }
  - name: Genie
    channel_type: opsgenie
    config: { url: "https://api.eu.opsgenie.com/v2/alerts", api_key: "\${GENIE_KEY}" }
rules:
  - name: Blocked often
    severity: high
    rule_kind: event_count_gte
    window_seconds: 600
    threshold: 3
    event_types: [budget.blocked]
    channels: [Chat, Ops]
    routes: [{ label: team, value: gr*, channels: [Ops, Team] }]
    group_seconds: 300
  - { name: Night, severity: low, agent: night-shift, rule_kind: spend_gte, window_seconds: 3600, threshold_usd: 0.5 }
  - { name: Unusual, severity: high, rule_kind: deviation_gte, times: 3, min_usd: 0.25, labels: { team: growth } }
  - name: Burning
    severity: critical
    rule_kind: burn_rate_gte
    budget: Per user
    fraction: 0.25
    long_seconds: 3600
    short_seconds: 300
  - name: Night burns
    severity: low
    rule_kind: burn_rate_gte
    budget: bud_agent.night-shift
    fraction: 0.015
    long_seconds: 300
    short_seconds: 60
  - { name: Used up, severity: medium, rule_kind: forecast_gte, budget: Per user, percent: 80, channels: [Ops] }
maintenance_windows:
  - name: Batch
    weekdays: [monday, sunday]
    start: "22:00"
    end: "06:00"
    time_zone: Europe/Berlin
    matchers: [rule_name=Night*, "label:team!=growth"]
    reason: The nightly batch
members:
  - { email: Ann@example.com, role: admin }
`;

/** The same with something else in each kind, and without the chat, Zoe and Ann. */
const CHANGES: [from: string, to: string][] = [
  ['tracked_labels: [team]', 'tracked_labels: [team, env]'],
  ['labels: { team: growth }, daily_budget_usd: 1.5', 'labels: { env: prod }, daily_budget_usd: null'],
  ['is_active: false', 'is_active: true'],
  ['limit_usd: 5 }', 'limit_usd: 7 }'],
  ['model: claude-*', 'provider: openai'],
  ['hooks.example.com/x', 'hooks.example.com/y'],
  ['url: "https://api.eu.opsgenie.com/v2/alerts", ', ''],
  ['threshold: 3', 'threshold: 4'],
  ['times: 3, min_usd: 0.25', 'times: 4, min_usd: 0.25'],
  ['budget: Per user', 'budget: Apollo'],
  ['[Chat, Ops]', '[Ops]'],
  ['[Ops, Team]', '[Team]'],
  ['group_seconds: 300', 'group_seconds: 60'],
  ['end: "06:00"', 'end: "07:00"'],
  [`  - { name: Chat, channel_type: chat, config: { webhook_url: "\${OPS_URL}" } }\n`, ''],
  ['  - { email: Ann@example.com, role: admin }\n', '  - { email: bob@example.com, role: member }\n'],
];

interface ShownPlan {
  workspace: string;
  changes: { action: string; section: string; key: string; fields: { path: string; to: unknown }[] }[];
  others: number;
  applied: number;
}

/** Workspaces as files: plans, changes, and what an interrupted command leaves. */
export function describeCommandLineFiles({ deployment, cli, owner, proxy, withFile, printed }: CommandLineStage): void {
  describe('files', () => {
    it('makes a workspace as its file says, each kind of it, and then finds no difference', async () => {
      const slug = `file-${randomBytes(4).toString('hex')}`;
      const before = everything(slug);
      expect(await withFile(['diff'], before)).toMatchObject({ code: 2 });
      expect(await withFile(['apply', '--dry-run'], before, {})).toMatchObject({ code: 0 });
      expect(await withFile(['apply'], before, {})).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('OPS_SIGNING'),
      });
      const { items } = await owner().expect<{ items: { slug: string }[] }>({ path: '/api/v1/workspaces' });
      expect(items.map((workspace) => workspace.slug)).not.toContain(slug);

      expect(await withFile(['apply'], before)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('Made 19 changes.'),
      });
      expect(await withFile(['diff'], before)).toMatchObject({ code: 0, stdout: 'No difference.\n' });
      const exported = await cli.outputOf(['export', '-w', slug]);
      printed().push(exported);
      expect(await withFile(['diff', '--prune'], exported, {})).toMatchObject({ code: 0 });

      const zoe = /^ {2}- \{ name: Zoe.*\n/m;
      const after = CHANGES.reduce((text, [from, to]) => text.replace(from, () => to), before).replace(zoe, '');
      const { code, stdout } = await withFile(['diff', '--prune', '-o', 'json'], after);
      const [plan] = JSON.parse(stdout) as ShownPlan[];
      const lines = plan?.changes.map(({ action, section, key, fields }) =>
        [action, section, key, ...fields.map(({ path }) => path)].join(' '),
      );
      expect({ code, lines }).toEqual({
        code: 2,
        lines: [
          `update workspace ${slug} tracked_labels`,
          'update agents night-shift labels.team labels.env daily_budget_usd',
          'update plans basic is_active',
          'update budgets Per user limit_usd',
          'update budgets Apollo selector.model selector.provider',
          'update channels Ops config.url',
          'update channels Genie config.url',
          'update rules Blocked often threshold channels routes group_seconds',
          'update rules Unusual times',
          'update rules Burning budget',
          'update maintenance_windows Batch end',
          'create members bob@example.com',
          'remove members ann@example.com',
          'remove channels Chat',
          'remove budgets Zoe',
        ],
      });
      expect(await withFile(['apply'], after)).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('3 resources not in the files'),
      });
      expect(await withFile(['apply', '--prune'], after)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('3 to remove'),
      });
      expect(await withFile(['apply', '--prune'], after)).toMatchObject({ code: 0, stdout: 'Nothing to change.\n' });
      expect(await withFile(['apply', '--send-secrets'], after)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('Made 4 changes.'),
      });
    });

    it('stops before it changes anything if a file names what does not exist', async () => {
      const slug = `file-${randomBytes(4).toString('hex')}`;
      const rule = '{ name: A, severity: low, rule_kind: first_occurrence, window_seconds: 60, channels: [Nobody] }';
      const text = `version: 1\nworkspace: { slug: ${slug} }\nrules: [${rule}]\n`;
      expect(await withFile(['apply'], text)).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('rules "A": channels: '),
      });
      const { items } = await owner().expect<{ items: { slug: string }[] }>({ path: '/api/v1/workspaces' });
      expect(items.map((workspace) => workspace.slug)).not.toContain(slug);
    });

    it('names the field that Tollkeeper refuses, and still makes the other workspaces', async () => {
      const slugs = ['a', 'b'].map((name) => `file-${name}-${randomBytes(4).toString('hex')}`);
      const budget = '{ name: A, each: "EACH", period: { kind: day }, limit_usd: 5 }';
      const [bad = '', good = ''] = slugs.map(
        (slug) => `version: 1\nworkspace: { slug: ${slug} }\nbudgets: [${budget}]\n`,
      );
      const text = `${bad.replace('EACH', 'nonsense')}---\n${good.replace('EACH', 'model')}`;
      const { code, stdout, stderr } = await withFile(['apply'], text);
      expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining('Made 3 changes.') });
      expect(stderr).toMatch(new RegExp(`^${slugs[0]}: create budgets "A" failed\\.\n(.*\n)*  each: `, 'm'));
      expect((await withFile(['diff'], good.replace('EACH', 'model'))).code).toBe(0);
    });

    it(`makes ${WORKSPACES} workspaces whole although it is killed on the way, and then asks little to see that they are`, async () => {
      const slugs = Array.from({ length: WORKSPACES }, (_, at) => `fleet-${at}-${randomBytes(3).toString('hex')}`);
      const names = Array.from({ length: BUDGETS }, (_, at) => `Budget ${String(at).padStart(2, '0')}`);
      const budgets = names.map((name) => `  - { name: ${name}, period: { kind: day }, limit_usd: 5 }`).join('\n');
      const text = slugs
        .map((slug) => `version: 1\nworkspace: { slug: ${slug} }\nbudgets:\n${budgets}\n`)
        .join('---\n');
      const file = join(cli.folder(), 'fleet.yaml');
      await writeFile(file, text);

      const requestsBefore = proxy().exchanges.length;
      const child = cli.start(['apply', '-f', file]);
      await eventually(() =>
        expect(proxy().exchanges.length - requestsBefore).toBeGreaterThan((WORKSPACES * BUDGETS) / 3),
      );
      child.kill('SIGKILL');
      await once(child, 'exit');

      const [repeated] = [JSON.parse(await cli.outputOf(['apply', '-f', file, '-o', 'json'])) as ShownPlan[]];
      const made = repeated.reduce((sum, { applied }) => sum + applied, 0);
      expect(made).toBeGreaterThan(0);
      expect(made).toBeLessThan(WORKSPACES * (BUDGETS + 1));

      const requestsOfSecond = proxy().exchanges.length;
      expect(await cli.outputOf(['apply', '--prune', '-f', file])).toBe('Nothing to change.\n');
      // Who asks, and one page of budgets for each workspace.
      expect(proxy().exchanges.length - requestsOfSecond).toBe(1 + WORKSPACES);
      for (const slug of [slugs[0], slugs.at(-1)]) {
        const path = `/w/${slug}/api/v1/budgets?limit=100`;
        const { items } = await owner().expect<{ items: { name: string }[] }>({ path });
        expect(items.map(({ name }) => name).toSorted()).toEqual(names);
      }
    });

    it('keeps workspaces in git as examples/gitops says, on the line and in the workflow', async () => {
      const folder = join(cli.folder(), 'gitops');
      await cp(join(import.meta.dirname, '../../../../examples/gitops'), folder, { recursive: true });
      const { baseUrl, owner: person } = deployment();
      const env = {
        ...cli.environment(),
        XDG_CONFIG_HOME: join(folder, 'configuration'),
        ...{ TOLLKEEPER_URL: baseUrl, TOLLKEEPER_EMAIL: person.email, TOLLKEEPER_PASSWORD: person.password },
      };
      const blocks = blocksOf(await readFile(join(folder, 'README.md'), 'utf8'), 'sh');
      const printed = await outputOf(blocks.join('\n'), folder, env);
      expect(printed).toContain('budgets Per user\n      limit_usd: 50 → 5\n');
      expect(printed.match(/^Made \d+ changes?\.$|^Nothing to change\.$|^No difference\.$/gm)).toEqual([
        'Made 8 changes.',
        'Nothing to change.',
        'Made 1 change.',
        'No difference.',
      ]);

      const workflow = await readFile(join(folder, '.github/workflows/tollkeeper.yml'), 'utf8');
      const steps = [...workflow.matchAll(/run: (.*\btollkeeper .*)$/gm)].map(([, command]) => command);
      expect(steps).toHaveLength(5);
      await outputOf(steps.join('\n'), folder, { ...env, OPS_WEBHOOK_URL: 'https://chat.example.com/hooks/secret' });
    });
  });
}
