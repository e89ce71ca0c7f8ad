import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { helm, kustomize, ROOT } from '@tollkeeper/deployment';
import { defaultCacheDirectory, lockFile } from '@tollkeeper/managed-process';
import { CHECKS } from './checks.ts';
import { buildImages, IMAGE_FILES, RELEASED_IMAGES } from './images.ts';
import { command } from './command.ts';
import { missingPrerequisites } from './prerequisites.ts';
import { COMPOSE, CONTROL_PLANE, DOCKER, findPrograms, NODE, RUNC } from './programs.ts';
import { findRelease } from './released.ts';
import { runInSandbox } from './sandbox.ts';
import { say } from './say.ts';

/**
 * `npm run test:cluster -- [images] [compose] [<check> …] [upgrade] [chart]`: all stages, or the named ones. README.md
 * describes them.
 */
const STAGES = ['images', 'compose', ...Object.keys(CHECKS), 'upgrade', 'chart'];
const home = resolve(process.env['CLUSTER_HOME'] || join(defaultCacheDirectory(), 'cluster'));
const named = process.argv.slice(2);

async function run(): Promise<number> {
  const unknown = named.filter((name) => !STAGES.includes(name));
  if (unknown.length > 0) throw new Error(`There is no stage ${unknown.join(', ')}. There are: ${STAGES.join(', ')}`);
  const problems = missingPrerequisites();
  if (problems.length > 0) throw new Error(problems.join('\n'));
  await mkdir(home, { recursive: true, mode: 0o700 });
  const unlock = await lockFile(join(home, 'lock.json'));
  try {
    const stages = named.length === 0 ? STAGES : named;
    // Downloads before the sandboxes, which have no internet access.
    for (const set of [DOCKER, COMPOSE, RUNC, CONTROL_PLANE, NODE]) await findPrograms(set, say);
    await kustomize(['version']);
    await helm(['version']);
    if (stages.includes('chart')) await command('npm', ['run', 'build', '-w', '@tollkeeper/cli', '--prefix', ROOT]);
    const upgrades = stages.includes('upgrade');
    const files = upgrades ? [...IMAGE_FILES, RELEASED_IMAGES] : IMAGE_FILES;
    if (stages.includes('images') || !files.every((file) => existsSync(join(home, file))))
      await buildImages(home, { released: upgrades });
    const compose = stages.includes('compose') ? await runInSandbox('compose.main.ts', [home]) : 0;
    const checks = stages.filter((stage) => stage in CHECKS);
    const node = checks.length > 0 ? await runOnNode('node.main.ts', checks) : 0;
    const upgrade = upgrades ? await runOnNode('upgrade.main.ts', [(await findRelease(home)).root]) : 0;
    const chart = stages.includes('chart') ? await runOnNode('chart.main.ts', []) : 0;
    return compose || node || upgrade || chart;
  } finally {
    await unlock();
  }
}

/** Removes the files of the last run, which were kept for their logs. */
async function runOnNode(script: string, args: string[]): Promise<number> {
  await rm(join(home, 'node'), { recursive: true, force: true });
  return runInSandbox(script, [home, ...args]);
}

process.exitCode = await run().catch((error: Error) => {
  console.error(error.message);
  return 1;
});
