import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { SERVICES, type ServiceName } from './services.ts';

const ROOT = resolve(import.meta.dirname, '..', '..', '..');

/** The bundle of a service: what its image runs. */
export function bundleOf(service: ServiceName): string {
  return join(ROOT, 'apps', service, 'dist', 'main.js');
}

/** Builds what has changed since it was built last. Rejects with what the build has printed. */
export async function buildBundles(): Promise<void> {
  const projects = SERVICES.map((service) => `@tollkeeper/${service}`).join();
  const args = ['run-many', '--target', 'build', '--projects', projects, '--output-style', 'static'];
  // Not from whoever runs this: inside of a target of Nx, these would say that the target runs itself.
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
