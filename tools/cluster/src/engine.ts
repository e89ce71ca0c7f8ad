import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { COMPOSE, DOCKER, findPrograms, type OnProgress, RUNC } from './programs.ts';
import { startServer } from './server.process.ts';
import { waitFor } from './wait.ts';

const START_TIMEOUT_MS = 60_000;

/** A container engine of its own, separate from any other on the machine. */
export interface Engine {
  /** Makes an image from a root file system; `changes` are instructions of a Dockerfile, such as `ENV A=b`. */
  importImage(name: string, rootFileSystem: string, changes: string[]): Promise<void>;
  hasImage(name: string): Promise<boolean>;
  /** Writes images with all their layers to a tar file. */
  saveImages(names: string[], file: string): Promise<void>;
  /** `docker compose`, with its output passed through. */
  compose(args: string[], env: NodeJS.ProcessEnv): Promise<void>;
  stop(): Promise<void>;
}

export interface EngineOptions {
  directory: string;
  /**
   * Whether containers get a network: the engine then changes interfaces and the packet filter of this network
   * namespace. Otherwise builds use the machine's network.
   */
  network: boolean;
  onProgress: OnProgress;
}

/** Starts dockerd as a child of this process, which ends with it. Needs root. */
export async function startEngine({ directory, network, onProgress }: EngineOptions): Promise<Engine> {
  const docker = await findPrograms(DOCKER, onProgress);
  const runc = await findPrograms(RUNC, onProgress);
  const run = join(directory, 'run');
  await mkdir(run, { recursive: true });
  const socket = join(run, 'docker.sock');
  await rm(join(run, 'docker.pid'), { force: true });
  const call = callerOf(socket);
  const configuration = join(directory, 'engine.json');
  const runtimes = { own: { path: join(runc, 'runc') } };
  const features = { 'containerd-snapshotter': false };
  await writeFile(configuration, JSON.stringify({ features, runtimes, 'default-runtime': 'own' }));
  const server = startServer({
    program: join(docker, 'dockerd'),
    args: [
      `--config-file=${configuration}`,
      `--host=unix://${socket}`,
      `--data-root=${join(directory, 'engine')}`,
      `--exec-root=${join(run, 'engine')}`,
      `--pidfile=${join(run, 'docker.pid')}`,
      '--storage-driver=overlay2',
      '--cgroup-parent=/tollkeeper-cluster-engine',
      `--userland-proxy-path=${join(docker, 'docker-proxy')}`,
      ...(network
        ? ['--bip=172.29.0.1/24']
        : ['--bridge=none', '--iptables=false', '--ip6tables=false', '--ip-forward=false']),
    ],
    logFile: join(directory, 'engine.log'),
    env: { ...process.env, PATH: `${docker}:${runc}:${process.env['PATH']}` },
  });
  let problem = '';
  void server.exited.then((reason) => (problem = reason));
  await waitFor('the container engine', START_TIMEOUT_MS, async () => {
    if (problem !== '') throw new Error(`The container engine did not start: ${problem}`);
    return call('GET', '/_ping').catch(() => undefined);
  });

  return {
    async importImage(name, rootFileSystem, changes) {
      const [repo = '', tag = 'latest'] = name.split(':');
      const query = new URLSearchParams({ fromSrc: '-', repo, tag });
      for (const change of changes) query.append('changes', change);
      const tar = spawn('tar', ['-C', rootFileSystem, '-c', '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
      const said = await text(await call('POST', `/images/create?${query}`, tar.stdout));
      if (said.includes('"error"')) throw new Error(`The image ${name} could not be imported: ${said}`);
    },
    hasImage: (name) =>
      call('GET', `/images/${encodeURIComponent(name)}/json`).then(
        (answer) => text(answer).then(() => true),
        () => false,
      ),
    async saveImages(names, file) {
      const query = names.map((name) => `names=${encodeURIComponent(name)}`).join('&');
      await pipeline(await call('GET', `/images/get?${query}`), createWriteStream(file));
    },
    async compose(args, env) {
      const compose = await findPrograms(COMPOSE, onProgress);
      const child = spawn(join(compose, 'docker-compose'), args, {
        stdio: ['ignore', 'inherit', 'inherit'],
        env: { ...process.env, DOCKER_HOST: `unix://${socket}`, COMPOSE_BAKE: 'false', ...env },
      });
      await new Promise<void>((resolve, reject) => {
        child.once('error', reject);
        child.once('exit', (code) => {
          if (code === 0) resolve();
          else
            reject(
              new Error(`docker compose ${args.join(' ')} ended with exit code ${code}; its output above says why`),
            );
        });
      });
    },
    stop: () => server.stop(),
  };
}

function callerOf(socketPath: string) {
  return async function call(method: string, path: string, body?: Readable): Promise<Readable> {
    const { promise, resolve, reject } = Promise.withResolvers<Readable>();
    const headers = body === undefined ? {} : { 'content-type': 'application/x-tar' };
    const outgoing = request({ socketPath, method, path, headers }, (answer) => {
      if ((answer.statusCode ?? 500) < 400) resolve(answer);
      else text(answer).then((said) => reject(new Error(`${method} ${path}: ${said}`)), reject);
    }).on('error', reject);
    if (body === undefined) outgoing.end();
    else pipeline(body, outgoing).catch(reject);
    return promise;
  };
}
