import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, open, rm, statfs, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findMongod, startEmbeddedMongo } from '@tollkeeper/embedded-mongo';
import { defaultCacheDirectory } from '@tollkeeper/managed-process';

const MIB = 1024 * 1024;

/** Ways to give a process its own mounts: as root, or as another user in a new user namespace. */
const NAMESPACES = [
  { unshare: ['--mount'], nsenter: ['--mount'] },
  { unshare: ['--user', '--map-root-user', '--mount'], nsenter: ['--user', '--preserve-credentials', '--mount'] },
];

/** Mounts a tmpfs visible only to its own processes. Throws if the machine allows nobody to mount. */
async function mountSmallDisk(path: string, megabytes: number) {
  const reasons: string[] = [];
  for (const { unshare, nsenter } of NAMESPACES) {
    const script = `mount -t tmpfs -o size=${megabytes}m tmpfs "$0" && echo mounted && exec cat`;
    const holder = spawn('unshare', [...unshare, 'sh', '-c', script, path], { stdio: ['pipe', 'pipe', 'pipe'] });
    holder.stderr.on('data', (text: Buffer) => reasons.push(String(text).trim()));
    const mounted = await Promise.race([once(holder.stdout, 'data'), once(holder, 'exit').then(() => null)]);
    if (mounted === null) continue;
    const release = async () => {
      holder.stdin.end();
      await once(holder, 'exit');
    };
    const enter = ['nsenter', '--target', String(holder.pid), ...nsenter];
    return { enter, path: `/proc/${holder.pid}/root${path}`, release };
  }
  throw new Error(`A small disk needs the right to mount a tmpfs: ${reasons.join('; ')}`);
}

/** A real `mongod` with a small disk of its own. Needs Linux, and root or user namespaces. */
export async function startMongoOnSmallDisk(megabytes: number) {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'tollkeeper-small-disk-'));
  await mkdir(join(dataDirectory, 'mongo'));
  const disk = await mountSmallDisk(join(dataDirectory, 'mongo'), megabytes);
  const filler = join(disk.path, 'filler');
  const real = await findMongod({
    cacheDirectory: defaultCacheDirectory(process.env),
    env: process.env,
    onProgress: () => undefined,
  });
  const wrapper = join(dataDirectory, 'mongod');
  await writeFile(wrapper, `#!/bin/sh\nexec ${disk.enter.join(' ')} '${real}' "$@"\n`, { mode: 0o755 });
  const exits: string[] = [];
  const mongo = await startEmbeddedMongo({
    dataDirectory,
    env: { ...process.env, MONGOD_BINARY: wrapper },
    onUnexpectedExit: (reason) => exits.push(reason),
  });
  const freeBytes = async () => {
    const { bavail, bsize } = await statfs(disk.path);
    return bavail * bsize;
  };
  return {
    uri: mongo.uri,
    newDatabase: () => `test_${crypto.randomUUID().replaceAll('-', '')}`,
    mongod: mongo.members[0]!,
    /** The reasons for unexpected exits, as reported to its owner. */
    exits,
    freeBytes,
    /** Fills the disk except for `leaveBytes`. */
    async fill(leaveBytes: number) {
      const file = await open(filler, 'a');
      try {
        while ((await freeBytes()) > leaveBytes) {
          await file.write(Buffer.alloc(Math.min(MIB, (await freeBytes()) - leaveBytes)));
        }
      } finally {
        await file.close();
      }
    },
    makeRoom: () => unlink(filler),
    async stop() {
      await mongo.stop();
      await disk.release();
      await rm(dataDirectory, { recursive: true });
    },
  };
}
