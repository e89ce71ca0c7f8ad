import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { defaultCacheDirectory } from '@tollkeeper/managed-process';

const run = promisify(execFile);

const MISSING =
  'The alert rules are tested with promtool, which is not on the PATH and could not be had as a Debian package. Install ' +
  'Prometheus (Debian and Ubuntu: `apt-get install prometheus`, macOS: `brew install prometheus`) and start again.';

/** The output of promtool. Rejects with the output if promtool fails, or with what to do if there is no promtool. */
export async function promtool(args: string[], cwd: string): Promise<string> {
  const program = await findPromtool();
  try {
    const { stdout } = await run(program, args, { cwd });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`promtool ${args.join(' ')}:\n${stdout}${stderr}`, { cause: error });
  }
}

/** The one on the PATH, or else that of the Debian package, unpacked into the cache without installing it. */
async function findPromtool(): Promise<string> {
  if (await works('promtool')) return 'promtool';
  const directory = join(defaultCacheDirectory(), 'tools', 'prometheus');
  const program = join(directory, 'usr/bin/promtool');
  if (await works(program)) return program;
  await mkdir(join(directory, '..'), { recursive: true });
  const staging = await mkdtemp(`${directory}-`);
  try {
    await run('sh', ['-c', 'apt-get download prometheus && dpkg-deb --extract prometheus_*.deb .'], { cwd: staging });
    // Another run may have been faster; its directory has the same content.
    await rename(staging, directory).catch(() => undefined);
  } catch (error) {
    throw new Error(MISSING, { cause: error });
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  if (!(await works(program))) throw new Error(MISSING);
  return program;
}

function works(program: string): Promise<boolean> {
  return run(program, ['--version']).then(
    () => true,
    () => false,
  );
}
