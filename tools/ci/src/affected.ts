import { NX_ALONE, runCommand } from './command.ts';

/** The projects affected by the changes since `base`, by their package.json names. Rejects if `base` does not exist. */
export async function affectedSince(base: string): Promise<string[]> {
  const commit = await runCommand('git', ['rev-parse', '--verify', '--quiet', `${base}^{commit}`], {
    output: 'capture',
  });
  if (commit.exitCode !== 0) {
    throw new Error(`NX_BASE: there is no commit ${base} here. Fetch it, or leave NX_BASE out to run everything.`);
  }
  const args = ['show', 'projects', '--affected', '--json', `--base=${base}`];
  const { exitCode, output } = await runCommand('nx', args, {
    env: { ...process.env, ...NX_ALONE },
    output: 'capture',
  });
  const list = /^\[.*\]$/m.exec(output)?.[0];
  if (exitCode !== 0 || list === undefined) throw new Error(`nx could not tell what ${base} affects:\n${output}`);
  return JSON.parse(list) as string[];
}
