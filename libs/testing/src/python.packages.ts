import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheEntry, defaultCacheDirectory } from '@tollkeeper/managed-process';

const run = promisify(execFile);

const INSTALL_TIMEOUT_MS = 9 * 60_000;

const MISSING =
  'Python packages are installed with pip 22.3 or later, but `python3 -m pip` or `python3 -m venv` does not run. ' +
  'Install Python 3.10 or later with pip (Debian and Ubuntu: `apt-get install python3-pip`) and start again.';

interface PythonPackages {
  /** Of the virtual environment, such as `litellm`. */
  name: string;
  /** The file that lists the packages with their versions. */
  requirements: string;
  /** The file with the versions of the packages that these need. */
  constraints?: string;
  /** Installs packages also if they say that they need a newer Python. */
  ignoresPythonVersion?: boolean;
}

/** The Python of a virtual environment in the user's cache that has these packages in it. */
export async function pythonWith(packages: PythonPackages): Promise<string> {
  const { name, requirements, constraints, ignoresPythonVersion = false } = packages;
  const { stdout: version } = await run('python3', ['--version']).catch((error: unknown) => {
    throw new Error(MISSING, { cause: error });
  });
  const files = constraints === undefined ? [requirements] : [requirements, constraints];
  const content = [version, ...(await Promise.all(files.map((file) => readFile(file, 'utf8'))))].join('\n');
  const directory = await cacheEntry({
    cacheDirectory: join(defaultCacheDirectory(), 'tools'),
    name: `${name}-${createHash('sha256').update(content).digest('hex').slice(0, 12)}`,
    activity: `installing the Python packages of ${name}`,
    onProgress: (line) => process.stderr.write(`${line}\n`),
    fill: (folder) =>
      install(folder, [
        ...(ignoresPythonVersion ? ['--ignore-requires-python'] : []),
        ...['-r', requirements],
        ...(constraints === undefined ? [] : ['-c', constraints]),
      ]),
  });
  return join(directory, 'bin', 'python');
}

async function install(directory: string, packages: readonly string[]): Promise<void> {
  // Debian has no pip for virtual environments, so that of the system installs into this one.
  await run('python3', ['-m', 'venv', '--without-pip', directory]).catch((error: unknown) => {
    throw new Error(MISSING, { cause: error });
  });
  const options = ['--quiet', '--disable-pip-version-check', '--no-input', '--only-binary=:all:'];
  const python = join(directory, 'bin', 'python');
  await run('python3', ['-m', 'pip', '--python', python, 'install', ...options, ...packages], {
    timeout: INSTALL_TIMEOUT_MS,
  }).catch((error: Error & { stderr?: string }) => {
    const isAbsent = /No module named pip|no such option: --python/.test(error.stderr ?? '');
    throw new Error(isAbsent ? MISSING : `pip could not install them: ${error.stderr || error.message}`, {
      cause: error,
    });
  });
}
