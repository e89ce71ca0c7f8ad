import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cp, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type ApiClient, logIn } from '../src/api.client.ts';
import { useCommandLine } from '../src/command.line.ts';
import { guardBlocked, spendSettled } from '../src/events.ts';
import { outputOf } from '../src/example.shell.ts';
import { blocksOf } from '../src/readme.blocks.ts';
import { type ReportingProxy, startReportingProxy } from '../src/reporting.proxy.ts';
import { rememberSecret } from '../src/secrets.ts';
import { useStandalone } from '../src/standalone.stage.ts';
import { postEvents, reportEvents } from '../src/workspace.ts';

const WORKSPACES = 50;
const BUDGETS = 20;

const SECRETS = {
  OPS_URL: `https://chat.example.com/services/${randomBytes(12).toString('hex')}`,
  OPS_SIGNING: `whsec_${randomBytes(32).toString('base64')}`,
  PAGER_KEY: randomBytes(16).toString('hex'),
  GENIE_KEY: randomUUID(),
};

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
  [`  - { name: Chat, channel_type: chat, config: { webhook_url: "\${OPS_URL}" } }\n`, ''],
  ['  - { email: Ann@example.com, role: admin }\n', '  - { email: bob@example.com, role: member }\n'],
];

interface ShownPlan {
  workspace: string;
  changes: { action: string; section: string; key: string; fields: { path: string; to: unknown }[] }[];
  others: number;
  applied: number;
}

describe('the command line', () => {
  const { deployment, receiver } = useStandalone();
  const cli = useCommandLine();
  let owner: ApiClient;
  let proxy: ReportingProxy;
  const output: string[] = [];

  beforeAll(async () => {
    Object.values(SECRETS).forEach(rememberSecret);
    owner = await logIn(deployment(), deployment().owner);
    proxy = await startReportingProxy(() => deployment().baseUrl);
    const { email, password } = deployment().owner;
    await cli.outputOf(['login', '--url', proxy.url, '--email', email, '--password-stdin'], { stdin: `${password}\n` });
  });
  afterAll(() => proxy.stop());

  /** Runs a command about a file with this text, with the secrets in its environment. */
  async function withFile(args: string[], text: string, env: NodeJS.ProcessEnv = SECRETS) {
    const file = join(cli.folder(), 'tollkeeper.yaml');
    await writeFile(file, text);
    const ended = await cli.run([...args, '-f', file], { env });
    output.push(ended.stdout, ended.stderr);
    return ended;
  }

  it('keeps the session for the user alone, without the password, until they log out', async () => {
    const file = join(cli.configuration(), 'tollkeeper', 'session.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).not.toContain(deployment().owner.password);
    const session = (JSON.parse(await readFile(file, 'utf8')) as { session: string }).session;
    rememberSecret(session);
    expect(JSON.parse(await cli.outputOf(['whoami', '-o', 'json']))).toMatchObject({
      user: { email: deployment().owner.email },
      workspace: deployment().workspace,
    });

    const other = { env: { XDG_CONFIG_HOME: join(cli.folder(), 'other') } };
    const { email, password } = deployment().owner;
    const login = ['login', '--url', deployment().baseUrl, '--email', email, '--password-stdin'];
    expect((await cli.run(login, { ...other, stdin: 'wrong' })).code).toBe(4);
    await cli.outputOf(login, { ...other, stdin: password });
    const saved = await readFile(join(other.env.XDG_CONFIG_HOME, 'tollkeeper', 'session.json'), 'utf8');
    await cli.outputOf(['logout'], other);
    expect(await cli.run(['whoami'], other)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('tollkeeper login'),
    });
    const ended = (JSON.parse(saved) as { session: string }).session;
    await eventually(async () => {
      const response = await fetch(`${deployment().baseUrl}/api/v1/auth/me`, {
        headers: { cookie: `gw_session=${ended}` },
      });
      expect(response.status).toBe(401);
    });
  });

  it('says what is wrong with the options and with the way to Tollkeeper, by its exit code too', async () => {
    expect(await cli.run(['aply'])).toMatchObject({ code: 3, stderr: expect.stringContaining('apply') });
    expect(await cli.run(['whoami', '--zone', 'Mars/Base'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('--zone'),
    });
    expect(await cli.run(['use', 'nowhere'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(deployment().workspace),
    });
    const nonsense = ['login', '--url', 'tollkeeper.example.com', '--email', 'a@b.example', '--password-stdin'];
    expect(await cli.run(nonsense, { stdin: 'x' })).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^Error: --url must be an http:\/\/ or https:\/\/ address/),
    });
    const nobody = { XDG_CONFIG_HOME: join(cli.folder(), 'none') };
    const login = ['login', '--url', 'http://127.0.0.1:9', '--email', 'a@b.example', '--password-stdin'];
    expect(await cli.run(login, { env: nobody, stdin: 'x' })).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('doctor'),
    });
    const findings = JSON.parse(
      await cli.outputOf(['doctor', '-o', 'json'], { env: { TOLLKEEPER_KEY: deployment().apiKey } }),
    ) as { check: string; state: string }[];
    expect(findings.map(({ check, state }) => `${check} ${state}`)).toEqual(
      ['program', 'session', 'connection', 'clock', 'workspace', 'alerting', 'key'].map((check) => `${check} ok`),
    );
  });

  it('makes a workspace as its file says, each kind of it, and then finds no difference', async () => {
    const slug = `file-${randomBytes(4).toString('hex')}`;
    const before = everything(slug);
    expect(await withFile(['diff'], before)).toMatchObject({ code: 2 });
    expect(await withFile(['apply', '--dry-run'], before, {})).toMatchObject({ code: 0 });
    expect(await withFile(['apply'], before, {})).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('OPS_SIGNING'),
    });
    const { items } = await owner.expect<{ items: { slug: string }[] }>({ path: '/api/v1/workspaces' });
    expect(items.map((workspace) => workspace.slug)).not.toContain(slug);

    expect(await withFile(['apply'], before)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Made 17 changes.'),
    });
    expect(await withFile(['diff'], before)).toMatchObject({ code: 0, stdout: 'No difference.\n' });
    const exported = await cli.outputOf(['export', '-w', slug]);
    output.push(exported);
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
        'update rules Blocked often threshold channels',
        'update rules Unusual times',
        'update rules Burning budget',
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
    const { items } = await owner.expect<{ items: { slug: string }[] }>({ path: '/api/v1/workspaces' });
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
    const text = slugs.map((slug) => `version: 1\nworkspace: { slug: ${slug} }\nbudgets:\n${budgets}\n`).join('---\n');
    const file = join(cli.folder(), 'fleet.yaml');
    await writeFile(file, text);

    const requestsBefore = proxy.exchanges.length;
    const child = cli.start(['apply', '-f', file]);
    await eventually(() => expect(proxy.exchanges.length - requestsBefore).toBeGreaterThan((WORKSPACES * BUDGETS) / 3));
    child.kill('SIGKILL');
    await once(child, 'exit');

    const [repeated] = [JSON.parse(await cli.outputOf(['apply', '-f', file, '-o', 'json'])) as ShownPlan[]];
    const made = repeated.reduce((sum, { applied }) => sum + applied, 0);
    expect(made).toBeGreaterThan(0);
    expect(made).toBeLessThan(WORKSPACES * (BUDGETS + 1));

    const requestsOfSecond = proxy.exchanges.length;
    expect(await cli.outputOf(['apply', '--prune', '-f', file])).toBe('Nothing to change.\n');
    // Who asks, and one page of budgets for each workspace.
    expect(proxy.exchanges.length - requestsOfSecond).toBe(1 + WORKSPACES);
    for (const slug of [slugs[0], slugs.at(-1)]) {
      const path = `/w/${slug}/api/v1/budgets?limit=100`;
      const { items } = await owner.expect<{ items: { name: string }[] }>({ path });
      expect(items.map(({ name }) => name).toSorted()).toEqual(names);
    }
  });

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

    const before = proxy.exchanges.length;
    const tail = cli.start(['events', 'tail', '--count', '3', '-o', 'json', '-w', slug]);
    let tailed = '';
    tail.stdout?.on('data', (chunk: Buffer) => (tailed += chunk));
    const tailEnds = once(tail, 'exit');
    // It shows what happens after its first four reads.
    await eventually(() => expect(proxy.exchanges.length - before).toBeGreaterThanOrEqual(4));
    await reportEvents(deployment(), key, [
      spendSettled({ agentId: 'reader', amountMicros: 1_500_000 }),
      guardBlocked('run-1', 'reader'),
    ]);
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

  it('keeps workspaces in git as examples/gitops says, on the line and in the workflow', async () => {
    const folder = join(cli.folder(), 'gitops');
    await cp(join(import.meta.dirname, '../../examples/gitops'), folder, { recursive: true });
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

  it('never prints a secret, and none is in the log', () => {
    const printed = [...output, deployment().logs()].join('\n');
    const leaked = Object.entries(SECRETS).filter(([, secret]) => printed.includes(secret));
    expect(leaked.map(([name]) => name)).toEqual([]);
  });
});
