// Builds the published package, into `dist/` or the given directory: one module, its types, and a separate manifest,
// since the one of the sources refers to the sources.
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const project = join(import.meta.dirname, '..');
const root = join(project, '../..');
const dist = resolve(process.argv[2] ?? join(project, 'dist'));

rmSync(dist, { recursive: true, force: true });
await build({
  entryPoints: [join(project, 'src/index.ts')],
  outfile: join(dist, 'index.js'),
  bundle: true,
  // For both Node and browsers: an import of a Node module fails the build.
  platform: 'neutral',
  target: 'es2022',
  format: 'esm',
  logLevel: 'warning',
});
const typescript = join(root, 'node_modules/typescript7/bin/tsc');
execFileSync(process.execPath, [typescript, '-p', join(project, 'tsconfig.build.json'), '--outDir', dist], {
  stdio: 'inherit',
});

const {
  name,
  version,
  private: unreleased,
  description,
  license,
} = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as Record<string, unknown>;
const manifest = {
  ...{ name, version, private: unreleased, description, license },
  type: 'module',
  sideEffects: false,
  engines: { node: '>=20' },
  exports: { '.': { types: './index.d.ts', default: './index.js' } },
};
writeFileSync(join(dist, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
cpSync(join(project, 'README.md'), join(dist, 'README.md'));
cpSync(join(root, 'LICENSE'), join(dist, 'LICENSE'));
