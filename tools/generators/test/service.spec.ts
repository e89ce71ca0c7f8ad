import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { check, resolveConfig } from 'prettier';
import generateService, { type ServiceOptions, type Tree } from '../src/service.generator.ts';
import { type Copy, copyWorkspace } from './copy.ts';

const run = promisify(execFile);

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** One service with every option and the longest purpose, and one with the minimum. */
const SERVICES: ServiceOptions[] = [
  {
    name: 'enforcement',
    purpose: 'W'.repeat(60),
    grpc: true,
    mongodb: true,
    calls: 'identity,budgets,notifier',
  },
  { name: 'manual', purpose: 'Pages for people' },
];

describe('a new service', () => {
  let copy: Copy;
  let tree: Tree;
  const written = new Set<string>();

  beforeAll(async () => {
    copy = copyWorkspace();
    tree = {
      ...copy.tree,
      write(path: string, text: string) {
        written.add(path);
        copy.tree.write(path, text);
      },
    };
    for (const service of SERVICES) {
      await generateService(tree, service);
      copy.link(service.name);
    }
  });
  afterAll(() => copy.remove());

  it('has types that fit, in its own code and where all services are put together', async () => {
    const projects = [...SERVICES.map(({ name }) => `apps/${name}`), 'apps/standalone', 'libs/topology', 'tools/fleet'];
    const config = {
      extends: './tsconfig.base.json',
      include: projects.flatMap((path) => [`${path}/src`, `${path}/test`]),
    };
    writeFileSync(join(copy.root, 'tsconfig.new.json'), JSON.stringify(config));
    const tsc = join(copy.root, 'node_modules/typescript7/bin/tsc');
    const { stdout } = await run(process.execPath, [tsc, '--noEmit', '-p', 'tsconfig.new.json'], {
      cwd: copy.root,
    }).catch((error: { stdout: string }) => error);
    expect(stdout).toBe('');
  });

  it('is formatted, in its own files and in those that it is added to', async () => {
    expect(written.size).toBeGreaterThan(20);
    for (const filepath of written) {
      const source = readFileSync(join(copy.root, filepath), 'utf8');
      const style = await resolveConfig(join(ROOT, filepath));
      expect([filepath, await check(source, { ...style, filepath })]).toEqual([filepath, true]);
    }
  });

  it.each(SERVICES)('has a suite that passes: $name', async ({ name }) => {
    const NODE_OPTIONS = '--experimental-vm-modules --disable-warning=ExperimentalWarning';
    // Nx turns colors on, whose codes would separate the words below.
    const env = { ...process.env, NODE_OPTIONS, FORCE_COLOR: '0' };
    const jest = join(copy.root, 'node_modules/jest/bin/jest.js');
    const { stderr } = await run(process.execPath, [jest, '--silent'], { cwd: join(copy.root, 'apps', name), env });
    expect(stderr).toMatch(/Tests: +[23] passed, [23] total/);
  });

  it.each([
    [{ name: 'keys', purpose: 'x' }, 'There is an app keys already'],
    [{ name: 'Two-Words', purpose: 'x' }, 'no name of a service'],
    [{ name: 'none', purpose: 'x', http: false }, 'HTTP server, a gRPC server, or both'],
    [{ name: 'other', purpose: 'x', calls: 'nobody' }, 'There is no k8s/base/nobody/network-policy.yaml'],
    [{ name: 'other', purpose: 'x', calls: 'ingest' }, 'ingest lets nobody to a gRPC port yet'],
  ])('is refused before anything is written: %j', async (options, reason) => {
    const before = written.size;
    await expect(generateService(tree, options)).rejects.toThrow(reason);
    expect(written.size).toBe(before);
    expect(copy.tree.exists('apps/other/package.json')).toBe(false);
  });
});
