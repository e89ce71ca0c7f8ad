/**
 * Builds the pages into `web/dist`, with a brotli and a gzip copy of each file, and checks their size. Does nothing if
 * the sources have not changed. The output lies outside of `dist`, because Nx removes and restores `dist` with every
 * build, and a running service would lose its pages.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { glob, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build, type Manifest } from 'vite';

const ROOT = join(import.meta.dirname, '../../..');
const OUT = join(import.meta.dirname, '../web/dist');
const STAMP = join(OUT, '.made-from');
const SOURCES = [
  'apps/console/scripts/**/*',
  'apps/console/web/{index.html,tsconfig.json}',
  'apps/console/web/{public,src}/**/*',
  'apps/console/vite.config.ts',
  'libs/client/src/**/*',
  'package-lock.json',
];

/** Limits of gzipped JavaScript: for the first page until it can be used, and for all pages together. */
const MAX_FIRST_LOAD_BYTES = 150_000;
const MAX_ALL_BYTES = 270_000;

// With another value, such as that of a test, React would be built with its development helpers.
process.env['NODE_ENV'] = 'production';

const madeFrom = await hashOf(SOURCES);
if (!existsSync(STAMP) || (await readFile(STAMP, 'utf8')) !== madeFrom) {
  const startedAt = performance.now();
  await build({ configFile: join(ROOT, 'apps/console/vite.config.ts'), logLevel: 'warn' });
  await Promise.all((await filesIn(OUT)).map(compress));
  const { firstLoad, all } = await sizes();
  await writeFile(STAMP, madeFrom);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(
    `The console is built (${seconds} s): the first page takes ${kilobytes(firstLoad)} of JavaScript, all ${kilobytes(all)}.`,
  );
}

async function hashOf(patterns: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  const files: string[] = [];
  for await (const entry of glob(patterns, { cwd: ROOT, withFileTypes: true })) {
    if (entry.isFile()) files.push(join(entry.parentPath, entry.name));
  }
  for (const file of files.sort()) hash.update(file.slice(ROOT.length)).update(await readFile(file));
  return hash.digest('hex');
}

async function filesIn(folder: string): Promise<string[]> {
  const files: string[] = [];
  for await (const name of glob('**/*.{html,js,css,svg}', { cwd: folder })) files.push(join(folder, name));
  return files;
}

async function compress(file: string): Promise<void> {
  const content = await readFile(file);
  const best = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  await writeFile(`${file}.br`, await promisify(brotliCompress)(content, best));
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }));
}

/** Throws if the pages have grown too large to open quickly. */
async function sizes(): Promise<{ firstLoad: number; all: number }> {
  const manifest = JSON.parse(await readFile(join(OUT, '.vite/manifest.json'), 'utf8')) as Manifest;
  const first = new Set<string>();
  const add = (name: string): void => {
    const chunk = manifest[name];
    if (chunk === undefined || first.has(chunk.file)) return;
    first.add(chunk.file);
    chunk.imports?.forEach(add);
  };
  // The overview is the page that people open, so it counts too.
  for (const name of ['index.html', 'src/pages/overview/overview-page.tsx']) {
    if (manifest[name] === undefined) throw new Error(`The build has no ${name}; name it here as it is called now.`);
    add(name);
  }
  const scripts = new Set(Object.values(manifest).map(({ file }) => file));
  const sizeOf = async (file: string) => (file.endsWith('.js') ? (await readFile(join(OUT, `${file}.gz`))).length : 0);
  const sum = async (files: Set<string>) => (await Promise.all([...files].map(sizeOf))).reduce((a, b) => a + b, 0);
  const [firstLoad, all] = await Promise.all([sum(first), sum(scripts)]);
  if (firstLoad > MAX_FIRST_LOAD_BYTES || all > MAX_ALL_BYTES) {
    throw new Error(
      `The console is too large: the first page takes ${kilobytes(firstLoad)} of gzipped JavaScript ` +
        `(at most ${kilobytes(MAX_FIRST_LOAD_BYTES)}), all ${kilobytes(all)} (at most ${kilobytes(MAX_ALL_BYTES)}).`,
    );
  }
  return { firstLoad, all };
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(0)} kB`;
}
