import { build } from 'esbuild';
import { rmSync } from 'node:fs';
import { runCommand } from './command.ts';

/**
 * Bundles the app in the working directory into one file, `dist/main.js`, and proves that it starts: with a port that
 * is none it must stop at its configuration and name the variable.
 */
const BUNDLE = 'dist/main.js';
// Packages written as CommonJS call `require` for Node's own modules, and an ES module has none.
const BANNER = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

rmSync('dist', { recursive: true, force: true });
await build({
  entryPoints: ['src/main.ts'],
  outfile: BUNDLE,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  sourcemap: 'linked',
  legalComments: 'linked',
  logLevel: 'warning',
  banner: { js: BANNER },
});

const { exitCode, output } = await runCommand('node', [BUNDLE], {
  cwd: process.cwd(),
  env: { PORT: 'none', HTTP_PORT: 'none', TOLLKEEPER_DATA_DIR: 'dist/data' },
  output: 'capture',
});
if (exitCode === 0 || !/\b(HTTP_)?PORT\b/.test(output)) {
  console.error(`${BUNDLE} did not stop at its configuration (exit code ${exitCode}):\n${output}`);
  process.exitCode = 1;
}
