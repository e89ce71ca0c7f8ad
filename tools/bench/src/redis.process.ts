import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort, isFree, killWithOwner } from '@tollkeeper/managed-process';
import { stopProcess } from './server.process.ts';

export interface RedisProcess {
  port: number;
  pid: number;
  stop(): Promise<void>;
}

/** Such as `Redis server v=7.0.15 …`; null without a `redis-server`. */
export function redisVersion(): string | null {
  const { status, stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

/** A Redis that appends every write to its file, flushed before the answer (`always`) or each second (`everysec`). */
export async function startRedis(appendfsync: 'always' | 'everysec'): Promise<RedisProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'tollkeeper-redis-'));
  const port = await freePort();
  const settings = { bind: '127.0.0.1', port, dir: directory, appendonly: 'yes', appendfsync, save: '' };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn('redis-server', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const unwatch = child.pid === undefined ? () => undefined : killWithOwner(child.pid, 'SIGTERM');
  while (await isFree(port)) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
    await delay(50);
  }
  return {
    port,
    pid: child.pid ?? 0,
    async stop() {
      await stopProcess(child);
      unwatch();
      await rm(directory, { recursive: true });
    },
  };
}
