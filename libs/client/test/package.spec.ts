import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { GRANTED } from './answers.ts';
import { json, startStubServer } from './stub.server.ts';

const run = promisify(execFile);
const BUILD = join(import.meta.dirname, '../scripts/build.ts');
const TYPESCRIPT = join(import.meta.dirname, '../../../node_modules/typescript7/bin/tsc');

const CONSUMER = `
import { type Api, createTollkeeper, TollkeeperUnavailable } from '@tollkeeper/client';

export async function reserve(url: string): Promise<Api.Reservation | null> {
  const call = await createTollkeeper({ url, key: 'k' }).reserve({ agentId: 'a', runId: 'r', amountMicros: 1 });
  // @ts-expect-error: what was denied cannot be settled.
  call.settle;
  if (!call.allowed) throw new TollkeeperUnavailable(call.denial.message, { code: 'denied' });
  // @ts-expect-error: a settlement has an amount.
  await call.settle({});
  return call.reservation;
}
`;
const COMPILER_OPTIONS = {
  ...{ module: 'nodenext', target: 'es2022', lib: ['es2022', 'dom'], types: [] },
  ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true },
};

/** The project of a user who has installed only the packed package. */
let project: string;
let installed: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'tollkeeper-client-'));
  installed = join(project, 'node_modules/@tollkeeper/client');
  const dist = join(project, 'dist');
  await run(process.execPath, [BUILD, dist]);
  await run('npm', ['pack', '--silent', '--pack-destination', project, dist]);
  const [tarball = ''] = (await readdir(project)).filter((name) => name.endsWith('.tgz'));
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', join(project, tarball), '-C', installed, '--strip-components=1']);
  await writeFile(join(project, 'package.json'), '{"type":"module"}');
});
afterAll(() => rm(project, { recursive: true }));

it('the packed package needs no other, and has its license and its README', async () => {
  const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as Record<string, unknown>;
  const needs = ['dependencies', 'peerDependencies', 'optionalDependencies'].filter((field) => field in manifest);
  expect(needs).toEqual([]);
  expect(await readFile(join(installed, 'index.js'), 'utf8')).not.toMatch(/^\s*import[\s{*]/m);
  expect(await readdir(installed)).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'index.d.ts', 'index.js']));
});

it('the packed package reserves', async () => {
  const server = await startStubServer(json(201, GRANTED));
  try {
    const program = `import { createTollkeeper } from '@tollkeeper/client';
      const tollkeeper = createTollkeeper({ url: process.env.STUB, key: 'k' });
      console.log((await tollkeeper.reserve({ agentId: 'a', runId: 'r', amountMicros: 1 })).reservation.id);`;
    await writeFile(join(project, 'program.js'), program);
    const env = { ...process.env, NODE_OPTIONS: '', STUB: server.url };
    const { stdout } = await run(process.execPath, ['program.js'], { cwd: project, env });
    expect(stdout.trim()).toBe('rsv_1');
  } finally {
    await server.stop();
  }
});

it('its types hold in a strict project that knows browsers alone, and refuse what is wrong', async () => {
  await writeFile(join(project, 'consumer.ts'), CONSUMER);
  const config = { compilerOptions: COMPILER_OPTIONS, files: ['consumer.ts'] };
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config));
  const { stdout } = await run(process.execPath, [TYPESCRIPT, '-p', project]).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe('');
});
