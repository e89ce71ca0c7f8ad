import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { waitForLock } from '@tollkeeper/managed-process';
import { SERVICES, type ServiceName } from '@tollkeeper/topology';

const ROOT = resolve(import.meta.dirname, '..', '..', '..');
/** The directory of the lock. Even without changes, Nx removes the bundles and restores them from its cache. */
const LOCK_DIRECTORY = join(ROOT, '.nx');

/** The bundle of a service, as in its image, in a directory filled by `buildBundles`. */
export function bundleOf(service: ServiceName, directory: string): string {
  return join(directory, service, 'main.js');
}

/**
 * Builds what has changed, and replaces `directory` by a copy. So later builds do not affect running services, and
 * several processes may do this concurrently. Rejects with the output of the build.
 */
export async function buildBundles(directory: string): Promise<void> {
  await mkdir(LOCK_DIRECTORY, { recursive: true });
  const unlock = await waitForLock(join(LOCK_DIRECTORY, 'fleet-bundles.lock'));
  try {
    await build();
    await rm(directory, { recursive: true, force: true });
    for (const service of SERVICES) {
      const dist = join(ROOT, 'apps', service, 'dist');
      await cp(dist, join(directory, service), { recursive: true, filter: (file) => !file.endsWith('.map') });
    }
  } finally {
    await unlock();
  }
}

async function build(): Promise<void> {
  const projects = SERVICES.map((service) => `@tollkeeper/${service}`).join();
  const args = ['run-many', '--target', 'build', '--projects', projects, '--output-style', 'static'];
  // Removed, because inside of an Nx target they would say that the target runs itself.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(NX_|NODE_OPTIONS$)/.test(name)));
  const child = spawn(join(ROOT, 'node_modules', '.bin', 'nx'), args, {
    cwd: ROOT,
    env: { ...env, NX_DAEMON: 'false', NX_ISOLATE_PLUGINS: 'false' },
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`The services can't be built:\n${output}`);
}
