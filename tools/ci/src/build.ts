import { build } from 'esbuild';
import { cpSync, existsSync, globSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runCommand, workspaceRoot } from './command.ts';

/**
 * Bundles the app in the working directory into `dist/`, which then needs only Node, and checks that it starts: with an
 * invalid port it must stop at its configuration and name the variable. Each of its `scripts/` becomes a separate
 * bundle for its operators.
 */
const BUNDLE = 'dist/main.js';
const app = process.cwd();
/** Builds the pages of an app that has them. */
const PAGES = join(app, 'scripts/build-web.ts');
const commands = globSync('scripts/*.ts', { cwd: app }).map((script) => join(app, script));

// Globals that CommonJS packages expect.
const BANNER = `import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
const __dirname = import.meta.dirname;`;

interface Asset {
  /** Part of the path of a source. Bundles that contain such a source read the files at run time. */
  usedBy: string;
  from: string;
  files: string[];
  to: string;
}

const ASSETS: Asset[] = [
  {
    usedBy: 'apps/gateway/src/http/documentation.ts',
    from: 'node_modules/swagger-ui-dist',
    files: [
      'swagger-ui.css',
      'swagger-ui-bundle.js',
      'swagger-ui-bundle.js.LICENSE.txt',
      'favicon-32x32.png',
      'NOTICE',
    ],
    to: 'dist/swagger-ui',
  },
  {
    usedBy: 'libs/prices/src/',
    from: 'libs/prices/src',
    files: ['table.json.gz', 'table.LICENSES.txt'],
    to: 'dist',
  },
];

rmSync('dist', { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: Object.fromEntries(
    [join(app, 'src/main.ts'), ...commands.filter((script) => script !== PAGES)].map((from) => [
      basename(from, '.ts'),
      from,
    ]),
  ),
  outdir: join(app, 'dist'),
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  sourcemap: 'linked',
  legalComments: 'linked',
  logLevel: 'warning',
  metafile: true,
  absWorkingDir: workspaceRoot,
  banner: { js: BANNER },
});
const sources = Object.keys(metafile.inputs);
for (const { usedBy, from, files, to } of ASSETS) {
  if (!sources.some((source) => source.includes(usedBy))) continue;
  for (const file of files) cpSync(join(workspaceRoot, from, file), join(app, to, file));
}

if (existsSync(PAGES)) {
  const { exitCode: failed } = await runCommand('node', [PAGES]);
  if (failed !== 0) process.exit(failed);
  cpSync(join(app, 'web/dist'), join(app, 'dist/web'), { recursive: true });
}

const { exitCode, output } = await runCommand('node', [BUNDLE], {
  cwd: app,
  env: { PORT: 'none', HTTP_PORT: 'none', GRPC_PORT: 'none', TOLLKEEPER_DATA_DIR: 'dist/data' },
  output: 'capture',
});
if (exitCode === 0 || !/^\s*(HTTP_|GRPC_)?PORT: /m.test(output)) {
  console.error(`${BUNDLE} did not stop at its configuration (exit code ${exitCode}):\n${output}`);
  process.exitCode = 1;
}
