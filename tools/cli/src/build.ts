// Builds the published package, into `dist/` or the given directory: one file that needs only Node, and its manifest.
import { chmodSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const project = join(import.meta.dirname, '..');
const dist = resolve(process.argv[2] ?? join(project, 'dist'));
const BINARY = 'tollkeeper.js';

const {
  name,
  version,
  private: unreleased,
  description,
  license,
} = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as Record<string, unknown>;

rmSync(dist, { recursive: true, force: true });
await build({
  entryPoints: [join(project, 'src/main.ts')],
  outfile: join(dist, BINARY),
  bundle: true,
  platform: 'node',
  target: 'node22',
  format: 'esm',
  legalComments: 'inline',
  logLevel: 'warning',
  define: { __VERSION__: JSON.stringify(version) },
  // Commander is CommonJS, which asks for modules of Node by `require`.
  banner: {
    js: `#!/usr/bin/env node
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);`,
  },
});
chmodSync(join(dist, BINARY), 0o755);

const manifest = {
  ...{ name, version, private: unreleased, description, license },
  type: 'module',
  engines: { node: '>=22' },
  bin: { tollkeeper: BINARY },
};
writeFileSync(join(dist, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
for (const file of ['README.md', 'tollkeeper.schema.json']) cpSync(join(project, file), join(dist, file));
cpSync(join(project, '../../LICENSE'), join(dist, 'LICENSE'));
