import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheEntry, defaultCacheDirectory } from '@tollkeeper/managed-process';

const run = promisify(execFile);

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
const CONSTRAINTS = join(import.meta.dirname, 'constraints.txt');
const INSTALL_TIMEOUT_MS = 9 * 60_000;

const MISSING =
  'LiteLLM is installed with pip 22.3 or later, but `python3 -m pip` or `python3 -m venv` does not run. Install Python ' +
  '3.10 or later with pip (Debian and Ubuntu: `apt-get install python3-pip`) and start again.';

/** The Python of a virtual environment in the user's cache that has the LiteLLM proxy in it. */
export async function pythonWithLitellm(): Promise<string> {
  const { stdout: version } = await run('python3', ['--version']).catch((error: unknown) => {
    throw new Error(MISSING, { cause: error });
  });
  const content = [version, await readFile(REQUIREMENTS, 'utf8'), await readFile(CONSTRAINTS, 'utf8')].join('\n');
  const directory = await cacheEntry({
    cacheDirectory: join(defaultCacheDirectory(), 'tools'),
    name: `litellm-${createHash('sha256').update(content).digest('hex').slice(0, 12)}`,
    activity: 'installing LiteLLM',
    onProgress: (line) => process.stderr.write(`${line}\n`),
    fill: install,
  });
  return join(directory, 'bin', 'python');
}

async function install(directory: string): Promise<void> {
  // Debian has no pip for virtual environments, so that of the system installs into this one.
  await run('python3', ['-m', 'venv', '--without-pip', directory]).catch((error: unknown) => {
    throw new Error(MISSING, { cause: error });
  });
  const options = ['--quiet', '--disable-pip-version-check', '--no-input', '--only-binary=:all:'];
  const python = join(directory, 'bin', 'python');
  await run(
    'python3',
    ['-m', 'pip', '--python', python, 'install', ...options, '-r', REQUIREMENTS, '-c', CONSTRAINTS],
    { timeout: INSTALL_TIMEOUT_MS },
  ).catch((error: Error & { stderr?: string }) => {
    const isAbsent = /No module named pip|no such option: --python/.test(error.stderr ?? '');
    throw new Error(isAbsent ? MISSING : `pip could not install LiteLLM: ${error.stderr || error.message}`, {
      cause: error,
    });
  });
}
