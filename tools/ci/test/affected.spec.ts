import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { NX_ALONE } from '../src/command.ts';

const run = promisify(execFile);
const workspace = resolve(import.meta.dirname, '../../..');
const nx = join(workspace, 'node_modules/.bin/nx');

interface TaskGraph {
  tasks: { tasks: Record<string, { target: { project: string; target: string } }> };
}

/** The projects whose suites `nx affected -t test` would run after a change to `files`, comma-separated. */
async function testedAfterChangeTo(files: string): Promise<string[]> {
  const { stdout } = await run(nx, ['affected', '-t', 'test', `--files=${files}`, '--graph=stdout'], {
    cwd: workspace,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...NX_ALONE },
    maxBuffer: 64 * 1024 * 1024,
  });
  const graph = JSON.parse(stdout) as TaskGraph;
  return Object.values(graph.tasks.tasks)
    .map((task) => task.target.project.replace('@tollkeeper/', ''))
    .sort();
}

const SERVICES = readdirSync(join(workspace, 'apps')).filter((app) => app !== 'standalone');

describe('nx affected -t test', () => {
  it.each(['identity', 'ingest'])('after a change in apps/%s leaves every other service alone', async (service) => {
    const others = SERVICES.filter((name) => name !== service);

    const tested = await testedAfterChangeTo(`apps/${service}/src/index.ts`);

    expect(tested).toEqual(expect.arrayContaining([service, 'standalone', 'e2e']));
    expect(tested.filter((project) => others.includes(project))).toEqual([]);
  });

  it('after a change in apps/keys runs keys, what runs or deploys all services, and nothing more', async () => {
    expect(await testedAfterChangeTo('apps/keys/src/index.ts')).toEqual([
      ...['bench', 'cluster', 'deployment', 'e2e', 'fleet', 'keys', 'litellm', 'standalone', 'tools'],
    ]);
  });

  it('after a change in the SSO provider runs the suites that log in with it', async () => {
    const tested = await testedAfterChangeTo('libs/sso-provider/src/provider.ts');

    expect(tested).toEqual(expect.arrayContaining(['identity', 'e2e']));
    expect(tested).not.toContain('keys');
  });

  it('after a change in an example runs the console, which shows it, and no other service', async () => {
    const tested = await testedAfterChangeTo('examples/nginx/nginx.conf');

    expect(tested).toEqual(expect.arrayContaining(['console', 'deployment', 'e2e']));
    expect(tested.filter((project) => SERVICES.includes(project))).toEqual(['console']);
  });

  it('after a change in apps/standalone runs no service', async () => {
    const tested = await testedAfterChangeTo('apps/standalone/src/main.ts');

    expect(tested).toEqual(expect.arrayContaining(['standalone', 'e2e']));
    expect(tested.filter((project) => SERVICES.includes(project))).toEqual([]);
  });

  it('after a change in proto runs contracts and all that speaks its contracts', async () => {
    const tested = await testedAfterChangeTo('proto/tollkeeper/keys/v1/keys.proto');

    expect(tested).toEqual(expect.arrayContaining(['contracts', 'grpc', 'http', ...SERVICES, 'standalone', 'e2e']));
    expect(tested).not.toContain('kernel');
  });

  it('after a change in the kernel runs every service and lib', async () => {
    const tested = await testedAfterChangeTo('libs/kernel/src/index.ts');

    expect(tested).toEqual(expect.arrayContaining(['kernel', 'contracts', 'mongo', 'event-log', ...SERVICES, 'e2e']));
  });

  it('after a change in the event log runs its users and not the gateway', async () => {
    const tested = await testedAfterChangeTo('libs/event-log/src/index.ts');

    expect(tested).toEqual(expect.arrayContaining(['event-log', 'ingest', 'identity', 'dashboard']));
    expect(tested).not.toContain('gateway');
  });

  it('after a change in the documents runs nothing', async () => {
    expect(await testedAfterChangeTo('README.md,docs/architecture.md')).toEqual([]);
  });

  it('after a change of the locked packages runs everything', async () => {
    const tested = await testedAfterChangeTo('package-lock.json');

    expect(tested).toEqual(expect.arrayContaining(['ci', 'kernel', 'replay', 'bench', ...SERVICES, 'e2e']));
  });
});
