import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheEntry, defaultCacheDirectory } from '@tollkeeper/managed-process';

const run = promisify(execFile);

const INSTALL_TIMEOUT_MS = 9 * 60_000;

const MISSING =
  'It is installed with Go, but `go` (1.24 or later) does not run. Install it (https://go.dev/doc/install, or `brew ' +
  'install go`) and start again.';

/** The executable of a Go module, such as `example.com/tool@v1.2.3`, built once in the cache of the user. */
export async function goProgram(name: string, module: string): Promise<string> {
  const version = createHash('sha256').update(module).digest('hex').slice(0, 12);
  const directory = await cacheEntry({
    cacheDirectory: join(defaultCacheDirectory(), 'tools'),
    name: `go-${name}-${version}`,
    activity: `building ${name}`,
    onProgress: (line) => process.stderr.write(`${line}\n`),
    async fill(folder) {
      const options = { env: { ...process.env, GOBIN: folder }, timeout: INSTALL_TIMEOUT_MS };
      await run('go', ['install', module], options).catch((error: Error & { code?: unknown; stderr?: string }) => {
        const why = error.code === 'ENOENT' ? MISSING : error.stderr || error.message;
        throw new Error(`${name} cannot be built. ${why}`, { cause: error });
      });
    },
  });
  return join(directory, name);
}
