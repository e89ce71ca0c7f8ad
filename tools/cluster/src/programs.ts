import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { cacheEntry, defaultCacheDirectory } from '@tollkeeper/managed-process';

const run = promisify(execFile);

const MODULES = resolve(import.meta.dirname, '..', 'programs');
const BUILD_TIMEOUT_MS = 45 * 60_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** Lines of Go's output that a problem repeats. */
const KEPT_LINES = 5;

export type OnProgress = (line: string) => void;

/** Programs that are built from Go modules, in the versions locked by a go.mod below `programs/`. */
export interface ProgramSet {
  /** The name in the cache and in messages of the build. */
  name: string;
  /** Folder below `programs/` with go.mod and go.sum. */
  module: string;
  /** The package of each program. */
  packages: Record<string, string>;
  /** Flags for all of them: `-X` and the like. */
  linkerFlags?: string;
  /** Builds with cgo and these build tags. */
  cgoTags?: string;
}

/** Without inlining and debug information, builds take a quarter less time. Nobody measures these programs. */
const COMPILER_FLAGS = '-gcflags=all=-l -dwarf=false';

const KUBERNETES_VERSION = 'v1.33.13';
const KUBERNETES_FLAGS = `-X k8s.io/component-base/version.gitVersion=${KUBERNETES_VERSION}`;

/** The parts of an API server, with the controllers that create pods for workloads. */
export const CONTROL_PLANE = {
  name: 'kubernetes-control-plane',
  module: 'kubernetes',
  packages: {
    etcd: 'go.etcd.io/etcd/server/v3',
    'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
    'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  },
  linkerFlags: KUBERNETES_FLAGS,
} satisfies ProgramSet;

/** The parts of a node, besides containerd. */
export const NODE = {
  name: 'kubernetes-node',
  module: 'kubernetes',
  packages: {
    'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
    kubelet: 'k8s.io/kubernetes/cmd/kubelet',
    'kube-proxy': 'k8s.io/kubernetes/cmd/kube-proxy',
  },
  linkerFlags: KUBERNETES_FLAGS,
} satisfies ProgramSet;

export const COREDNS: ProgramSet = { name: 'coredns', module: 'coredns', packages: { coredns: '.' } };
export const PAUSE: ProgramSet = { name: 'pause', module: 'pause', packages: { pause: '.' } };
export const RUNC: ProgramSet = {
  name: 'runc',
  module: 'runc',
  packages: { runc: 'github.com/opencontainers/runc' },
  cgoTags: 'seccomp',
};

export const DOCKER: ProgramSet = {
  name: 'docker',
  module: 'docker',
  packages: {
    dockerd: 'github.com/moby/moby/v2/cmd/dockerd',
    'docker-proxy': 'github.com/moby/moby/v2/cmd/docker-proxy',
  },
  linkerFlags: '-X github.com/moby/moby/v2/dockerversion.Version=29.0.0',
};
export const COMPOSE: ProgramSet = {
  name: 'compose',
  module: 'compose',
  packages: { 'docker-compose': 'github.com/docker/compose/v2/cmd' },
  linkerFlags: '-X github.com/docker/compose/v2/internal.Version=v2.40.3',
};

/**
 * The directory with the programs of a set. They are built on the first call, and stay in the user's cache until go.mod
 * or the set changes. Rejects, with what to install, if Go is missing.
 */
export async function findPrograms(set: ProgramSet, onProgress: OnProgress): Promise<string> {
  const folder = join(MODULES, set.module);
  const locked = await Promise.all(['go.mod', 'go.sum'].map((file) => readFile(join(folder, file), 'utf8')));
  const content = JSON.stringify([set, COMPILER_FLAGS, ...locked]);
  return cacheEntry({
    cacheDirectory: defaultCacheDirectory(),
    name: `${set.name}-${createHash('sha256').update(content).digest('hex').slice(0, 12)}`,
    activity: `building ${set.name}`,
    onProgress,
    async fill(directory) {
      const names = Object.keys(set.packages);
      onProgress(`Building ${names.join(', ')} with Go: once, several minutes of two cores…`);
      for (const [name, goPackage] of Object.entries(set.packages)) {
        const flags = [COMPILER_FLAGS, `-ldflags=-s -w ${set.linkerFlags ?? ''}`, `-tags=${set.cgoTags ?? ''}`];
        const env = { CGO_ENABLED: set.cgoTags === undefined ? '0' : '1' };
        await go(['build', '-o', join(directory, name), ...flags, goPackage], folder, env);
        onProgress(`${name} is built.`);
      }
    },
  });
}

/**
 * A folder in Go's own cache with the sources of `module` (`path@version`), checked against the public checksum
 * database.
 */
export async function findModule(module: string): Promise<string> {
  const { Dir: directory } = JSON.parse(await go(['mod', 'download', '-json', module], MODULES)) as { Dir: string };
  return directory;
}

async function go(args: string[], cwd: string, settings: NodeJS.ProcessEnv = {}): Promise<string> {
  const env = { ...process.env, GOWORK: 'off', GOFLAGS: '-trimpath -buildvcs=false', ...settings };
  const options = { cwd, env, timeout: BUILD_TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES };
  const { stdout } = await run('go', args, options).catch((error: Error & { code?: unknown; stderr?: string }) => {
    throw new Error(problemOf(args, error), { cause: error });
  });
  return stdout;
}

function problemOf(args: string[], { code, stderr, message }: Error & { code?: unknown; stderr?: string }): string {
  if (code === 'ENOENT') {
    return (
      'Kubernetes is built from its Go modules, but `go` (1.24 or later) does not run. Install it ' +
      '(https://go.dev/doc/install, or `brew install go`) and start again.'
    );
  }
  const reason = stderr?.trim().split('\n').slice(-KEPT_LINES).join('\n') || message;
  const advice = 'Check that Go is 1.24 or later and reaches a module proxy, and start again.';
  return `go ${args[0]} ${args.at(-1)} failed: ${reason}\n${advice}`;
}
