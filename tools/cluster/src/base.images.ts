import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findMongod } from '@tollkeeper/embedded-mongo';
import { prepareKafka } from '@tollkeeper/embedded-kafka';
import { defaultCacheDirectory } from '@tollkeeper/managed-process';
import { ROOT } from '@tollkeeper/deployment';
import { command } from './command.ts';
import type { Engine } from './engine.ts';
import { COREDNS, findPrograms, type OnProgress, PAUSE } from './programs.ts';

const DEBIAN = 'bookworm';
const MIRROR = 'http://deb.debian.org/debian';
const MONGOSH = 'mongosh@2.12.0';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
const KAFKA_START = join(import.meta.dirname, '..', 'images/kafka/start.sh');

export const NODE_IMAGES = [
  'registry.k8s.io/pause:3.10',
  'tollkeeper-cluster/coredns:local',
  'mongo:8.0',
  'apache/kafka:4.3.1',
] as const;

interface Surroundings {
  engine: Engine;
  /** Keeps root file systems between runs. */
  directory: string;
  onProgress: OnProgress;
}

/**
 * Makes the base images and server images, under the names in the Dockerfile, docker-compose.yml and the manifests.
 * They come from Debian's packages and the suites' own tools, so that no image registry is needed. The real images of
 * MongoDB and Kafka are not tested.
 */
export async function makeBaseImages(surroundings: Surroundings): Promise<void> {
  const { engine, onProgress } = surroundings;
  for (const [name, make] of Object.entries(await baseImages())) {
    if (await engine.hasImage(name)) continue;
    onProgress(`Making the base image ${name}…`);
    await make(surroundings, name);
  }
}

type MakeImage = (surroundings: Surroundings, name: string) => Promise<void>;

async function baseImages(): Promise<Record<string, MakeImage>> {
  const dockerfile = await readFile(join(ROOT, 'Dockerfile'), 'utf8');
  const [, version] = /^ARG NODE_VERSION=(\S+)$/m.exec(dockerfile) ?? [];
  return {
    [`node:${version}-bookworm-slim`]: nodeImage,
    'mongo:8.0': mongoImage,
    'apache/kafka:4.3.1': kafkaImage,
    'registry.k8s.io/pause:3.10': pauseImage,
    'tollkeeper-cluster/coredns:local': corednsImage,
  };
}

const PATH = 'ENV PATH=/opt/java/bin:/usr/local/bin:/usr/bin:/bin';

async function nodeImage({ engine, directory, onProgress }: Surroundings, name: string): Promise<void> {
  const root = await debian({ directory, onProgress }, ['libstdc++6'], name);
  await addNode(root);
  const modules = join(root, 'usr/local/lib/node_modules');
  // This machine's npm, which works from Node 20 on.
  const npm = dirname(dirname(realpathSync((await command('/bin/sh', ['-c', 'command -v npm'])).trim())));
  await cp(npm, join(modules, 'npm'), { recursive: true, dereference: true });
  for (const program of ['npm', 'npx']) {
    await symlink(`../lib/node_modules/npm/bin/${program}-cli.js`, join(root, 'usr/local/bin', program));
  }
  await engine.importImage(name, root, [PATH, `ENV NODE_EXTRA_CA_CERTS=${CERTIFICATES}`]);
}

async function mongoImage({ engine, directory, onProgress }: Surroundings, name: string): Promise<void> {
  const root = await debian({ directory, onProgress }, ['libcurl4', 'libstdc++6'], name);
  const mongod = await findMongod({ cacheDirectory: defaultCacheDirectory(), env: process.env, onProgress });
  await cp(mongod, join(root, 'usr/local/bin/mongod'));
  await addNode(root);
  const folder = join(root, 'opt/mongosh');
  await mkdir(folder, { recursive: true });
  await command('npm', [
    'install',
    '--prefix',
    folder,
    '--omit=dev',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    MONGOSH,
  ]);
  await command('chmod', ['--recursive', 'a+rX', join(root, 'opt')]);
  await symlink('/opt/mongosh/node_modules/mongosh/bin/mongosh.js', join(root, 'usr/local/bin/mongosh'));
  await command('install', ['--directory', '--owner=999', '--group=999', '--mode=0777', join(root, 'data/db')]);
  await engine.importImage(name, root, [PATH, 'ENTRYPOINT ["mongod"]']);
}

async function kafkaImage({ engine, directory, onProgress }: Surroundings, name: string): Promise<void> {
  const root = await debian({ directory, onProgress }, ['openjdk-17-jre-headless'], name);
  const { jars } = await prepareKafka({ env: process.env, onProgress });
  await cp(jars, join(root, 'opt/kafka/libs'), { recursive: true });
  await cp(KAFKA_START, join(root, 'opt/kafka/start.sh'));
  await command('install', [
    '--directory',
    '--owner=1000',
    '--group=1000',
    '--mode=0777',
    join(root, 'var/lib/kafka/data'),
  ]);
  // Only its owner can read the cache, but the broker runs as another user.
  await command('chmod', ['--recursive', 'a+rX', join(root, 'opt')]);
  await engine.importImage(name, root, [PATH, 'ENTRYPOINT ["/opt/kafka/start.sh"]']);
}

async function pauseImage({ engine, directory, onProgress }: Surroundings, name: string): Promise<void> {
  const root = await emptyFolder(directory, name);
  await cp(join(await findPrograms(PAUSE, onProgress), 'pause'), join(root, 'pause'));
  await engine.importImage(name, root, ['USER 65535:65535', 'ENTRYPOINT ["/pause"]']);
}

async function corednsImage({ engine, directory, onProgress }: Surroundings, name: string): Promise<void> {
  const root = await emptyFolder(directory, name);
  await cp(join(await findPrograms(COREDNS, onProgress), 'coredns'), join(root, 'coredns'));
  await engine.importImage(name, root, ['ENTRYPOINT ["/coredns"]']);
}

/** A copy of a small Debian with these packages, for one image. */
async function debian(
  { directory, onProgress }: Pick<Surroundings, 'directory' | 'onProgress'>,
  packages: string[],
  name: string,
): Promise<string> {
  const list = ['ca-certificates', ...packages].join(',');
  const system = join(directory, 'debian', createHash('sha256').update(list).digest('hex').slice(0, 12));
  if (!existsSync(system)) {
    onProgress(`Installing Debian ${DEBIAN} with ${list}…`);
    const staging = `${system}.staging`;
    await rm(staging, { recursive: true, force: true });
    await mkdir(dirname(staging), { recursive: true });
    await command('debootstrap', ['--variant=minbase', `--include=${list}`, DEBIAN, staging, MIRROR]);
    for (const waste of ['var/cache/apt', 'var/lib/apt/lists', 'usr/share/doc', 'usr/share/locale']) {
      await rm(join(staging, waste), { recursive: true, force: true });
    }
    await writeFile(join(staging, 'etc/resolv.conf'), '');
    await command('mv', [staging, system]);
  }
  const root = await emptyFolder(directory, name);
  await command('cp', ['--archive', `${system}/.`, root]);
  // Builds trust the same certificates as this machine.
  await cp(CERTIFICATES, join(root, CERTIFICATES));
  return root;
}

async function emptyFolder(directory: string, name: string): Promise<string> {
  const folder = join(directory, 'roots', name.replaceAll(/[^\w.]/g, '-'));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  return folder;
}

/** The Node from `npm ci`, in the version that the Dockerfile names. */
async function addNode(root: string): Promise<void> {
  await mkdir(join(root, 'usr/local/bin'), { recursive: true });
  await mkdir(join(root, 'usr/local/lib/node_modules'), { recursive: true });
  await cp(process.execPath, join(root, 'usr/local/bin/node'));
}
