import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { freePort } from '@tollkeeper/managed-process';
import { stopProcess } from './server.process.ts';

export interface NginxProcess {
  url: string;
  /** The only process: without a master, nginx works in the process that was started. */
  pid: number;
  stop(): Promise<void>;
}

/**
 * nginx with one worker, which asks the upstream about every request (`auth_request`) before it proxies the request.
 */
export async function startNginx(upstream: string): Promise<NginxProcess | null> {
  if (!canAuthorize()) return null;
  const directory = await mkdtemp(join(tmpdir(), 'tollkeeper-nginx-'));
  const port = await freePort();
  const file = join(directory, 'nginx.conf');
  await writeFile(file, configOf(directory, port, new URL(upstream).host));
  const child = spawn('nginx', ['-c', file, '-p', directory, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await once(child, 'spawn');
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    async stop() {
      await stopProcess(child);
      await rm(directory, { recursive: true });
    },
  };
}

function canAuthorize(): boolean {
  return spawnSync('nginx', ['-V'], { encoding: 'utf8' }).stderr?.includes('http_auth_request_module') ?? false;
}

function configOf(directory: string, port: number, upstream: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${directory}/${kind};`)
    .join(' ');
  return `
daemon off;
master_process off;
pid ${directory}/nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 1000000000;
  ${temporary}
  upstream service { server ${upstream}; keepalive 64; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    location / { auth_request /authorize; proxy_pass http://service; }
    location = /authorize { internal; proxy_pass http://service; proxy_pass_request_body off; proxy_set_header Content-Length ""; }
  }
}
`;
}
