import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CHART, helm, ROOT } from '@tollkeeper/deployment';
import { IMAGE_FILES } from './images.ts';
import { createInstallation, NAMESPACE } from './installation.ts';
import { startNode } from './node.ts';
import { say } from './say.ts';

/**
 * From nothing to the first denied call, as a new user gets there: with the chart and the command line. Runs in
 * separate namespaces (sandbox.ts): `chart.main.ts <home>`. Prints each command and how long it took.
 */
const [home = ''] = process.argv.slice(2);
const OWNER = { FIRST_OWNER_EMAIL: 'owner@example.com', FIRST_OWNER_PASSWORD: 'a-password-of-a-trial' };
const URL = 'http://localhost:8080';
const CLI = join(ROOT, 'tools/cli/dist/tollkeeper.js');
const RELEASE = ['tollkeeper', '--namespace', NAMESPACE];

const directory = join(home, 'node');
const node = await startNode({ directory, images: IMAGE_FILES.map((file) => join(home, file)), onProgress: say });
const installation = createInstallation(node);
const kubeconfig = await node.kubeconfig('admin');
const config = join(directory, 'cli');
await mkdir(config, { recursive: true, mode: 0o700 });
const rows: string[] = [];

async function step<T>(shown: string, act: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await act();
  rows.push(`| \`${shown}\` | ${((performance.now() - startedAt) / 1000).toFixed(1)} s |`);
  say(rows.at(-1) ?? '');
  return result;
}

async function runHelm(...args: string[]): Promise<void> {
  const { exitCode, stdout, stderr } = await helm([...args, '--kubeconfig', kubeconfig]);
  if (exitCode !== 0) throw new Error(`helm ${args[0]}: ${stdout}${stderr}`);
}

async function tollkeeper(args: string[], input = ''): Promise<string> {
  const env = { ...process.env, XDG_CONFIG_HOME: config };
  const child = spawn(process.execPath, [CLI, ...args], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  child.stdin.end(input);
  const said = await text(child.stdout);
  if ((await ended) !== 0) throw new Error(`tollkeeper ${args.join(' ')}: ${said}`);
  return said;
}

/** As `kubectl port-forward service/tollkeeper-gateway 8080` does. */
async function forwardPort(): Promise<void> {
  const { hostname } = new globalThis.URL(await installation.gatewayUrl());
  const server = createServer((socket) => {
    const upstream = connect(8080, hostname);
    socket.on('error', () => upstream.destroy()).pipe(upstream);
    upstream.on('error', () => socket.destroy()).pipe(socket);
  });
  await new Promise<void>((listening) => server.listen(8080, '127.0.0.1', listening));
}

const secrets = Object.entries(OWNER).flatMap(([name, value]) => ['--set', `secret.values.${name}=${value}`]);
await step('helm install tollkeeper charts/tollkeeper --set trial.enabled=true … --wait', () =>
  runHelm(
    'install',
    ...RELEASE,
    CHART,
    '--create-namespace',
    '--wait',
    '--timeout',
    '10m',
    ...[...['--set', 'trial.enabled=true', '--set', 'image.tag=local', '--set', 'image.pullPolicy=Never'], ...secrets],
  ),
);
await step('kubectl port-forward service/tollkeeper-gateway 8080', forwardPort);
await step('tollkeeper login --password-stdin …', () =>
  tollkeeper(
    ['login', '--url', URL, '--email', OWNER.FIRST_OWNER_EMAIL, '--password-stdin'],
    OWNER.FIRST_OWNER_PASSWORD,
  ),
);
await step('tollkeeper budgets set workspace --limit 1', () =>
  tollkeeper(['budgets', 'set', 'workspace', '--limit', '1']),
);
const key = await step('tollkeeper keys create gateway --role developer', async () => {
  const { api_key: created } = JSON.parse(
    await tollkeeper(['keys', 'create', 'gateway', '--role', 'developer', '-o', 'json']),
  ) as { api_key: string };
  return created;
});
await step('curl …/api/v1/reservations', async () => {
  const answer = await fetch(`${URL}/api/v1/reservations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ request_id: 'call-1', agent_id: 'agent-7', run_id: 'run-1', amount_micros: 2_000_000 }),
  });
  const { decision } = (await answer.json()) as { decision?: string };
  if (answer.status !== 200 || decision !== 'denied') throw new Error(`The call is not denied: ${answer.status}`);
});
await step('helm test tollkeeper', () => runHelm('test', ...RELEASE));
await step('helm upgrade tollkeeper charts/tollkeeper --reuse-values --set services.alerts.env.LOG_LEVEL=debug', () =>
  runHelm(
    ...['upgrade', ...RELEASE, CHART, '--reuse-values', '--set', 'services.alerts.env.LOG_LEVEL=debug'],
    ...['--wait', '--timeout', '10m'],
  ),
);
await step('helm rollback tollkeeper', () => runHelm('rollback', ...RELEASE, '--wait', '--timeout', '10m'));
await step('helm test tollkeeper', () => runHelm('test', ...RELEASE));
console.log(`\n| command | took |\n| --- | ---: |\n${rows.join('\n')}`);
await node.stop();
process.exit();
