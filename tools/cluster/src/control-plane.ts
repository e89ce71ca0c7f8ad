import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@tollkeeper/managed-process';
import { type ApiAddress, createKubernetesApi, type KubernetesApi } from './kubernetes.api.ts';
import { CONTROL_PLANE, findPrograms, type OnProgress } from './programs.ts';
import { type ServerProcess, startServer } from './server.process.ts';
import { waitFor } from './wait.ts';

const START_TIMEOUT_MS = 120_000;

/** Users of the API server, with the names and groups to which its built-in roles are bound. */
const USERS = {
  admin: { name: 'admin', group: 'system:masters' },
  'controller-manager': { name: 'system:kube-controller-manager', group: 'system:authenticated' },
  scheduler: { name: 'system:kube-scheduler', group: 'system:authenticated' },
  proxy: { name: 'system:kube-proxy', group: 'system:authenticated' },
  kubelet: { name: 'system:node:node', group: 'system:nodes' },
} as const;

type User = keyof typeof USERS;

export interface ControlPlaneOptions {
  /** Holds keys, tokens, logs and the data of etcd. Created if missing. */
  directory: string;
  onProgress: OnProgress;
  /** Address of this machine at which the API server listens; loopback by default. */
  host?: string;
  /** Address range of Services and pods. Only a node routes to it. */
  serviceNetwork?: string;
  podNetwork?: string;
}

/**
 * A real Kubernetes API server with its store and its controllers, but without a node: pods are created and admitted,
 * and stay pending.
 */
export interface ControlPlane {
  api: KubernetesApi;
  url: string;
  /** Writes the kubeconfig with which a component calls the API server as `user`, and returns its path. */
  kubeconfig(user: User): Promise<string>;
  /** Idempotent. */
  stop(): Promise<void>;
}

/**
 * Starts etcd, kube-apiserver and kube-controller-manager as children of this process, which end with it. Resolves once
 * the API server is ready. If a part does not start, rejects with its last log lines. Needs no root.
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { directory, onProgress, host = '127.0.0.1' } = options;
  const { serviceNetwork = '10.96.0.0/16', podNetwork = '10.244.0.0/16' } = options;
  const programs = await findPrograms(CONTROL_PLANE, onProgress);
  await mkdir(join(directory, 'logs'), { recursive: true, mode: 0o700 });
  const credentials = await makeCredentials(directory);
  const port = await freePort();
  const url = `https://${host}:${port}`;
  const certificate = join(directory, 'certificates', 'apiserver.crt');
  const servers: ServerProcess[] = [];

  function start(name: string, args: string[]): ServerProcess {
    const server = startServer({
      program: join(programs, name),
      args,
      logFile: join(directory, 'logs', `${name}.log`),
    });
    servers.push(server);
    return server;
  }

  async function kubeconfig(user: User): Promise<string> {
    const file = join(directory, `${user}.kubeconfig`);
    await writeFile(file, kubeconfigOf({ url, certificate, token: credentials.tokens[user] }), { mode: 0o600 });
    return file;
  }

  async function stop(): Promise<void> {
    // The store last, because its clients would report errors.
    for (const server of [...servers].reverse()) await server.stop();
  }

  try {
    const etcd = await startStore(start, directory);
    const apiServer = start('kube-apiserver', [
      `--etcd-servers=${etcd}`,
      `--bind-address=${host}`,
      `--secure-port=${port}`,
      `--cert-dir=${join(directory, 'certificates')}`,
      `--token-auth-file=${credentials.tokenFile}`,
      `--service-account-key-file=${credentials.publicKeyFile}`,
      `--service-account-signing-key-file=${credentials.privateKeyFile}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-cluster-ip-range=${serviceNetwork}`,
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      // Admission decides whether a pod may be privileged, not this switch.
      '--allow-privileged=true',
      ...(host === '127.0.0.1' ? ['--endpoint-reconciler-type=none'] : [`--advertise-address=${host}`]),
    ]);
    const address = () => readFile(certificate, 'utf8').then((ca) => ({ url, ca, token: credentials.tokens.admin }));
    const api = await untilReady(apiServer, address);
    start('kube-controller-manager', [
      `--kubeconfig=${await kubeconfig('controller-manager')}`,
      '--use-service-account-credentials',
      `--service-account-private-key-file=${credentials.privateKeyFile}`,
      `--root-ca-file=${certificate}`,
      '--allocate-node-cidrs',
      `--cluster-cidr=${podNetwork}`,
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      `--secure-port=${await freePort()}`,
      '--horizontal-pod-autoscaler-sync-period=1s',
    ]);
    return {
      api,
      url,
      kubeconfig,
      async stop() {
        api.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts etcd on loopback and returns its address. Its data is discarded, so it need not wait for the disk. */
async function startStore(start: (name: string, args: string[]) => ServerProcess, directory: string): Promise<string> {
  const [client, peer] = [await freePort(), await freePort()].map((port) => `http://127.0.0.1:${port}`);
  start('etcd', [
    `--data-dir=${join(directory, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
  ]);
  return `${client}`;
}

async function untilReady(server: ServerProcess, address: () => Promise<ApiAddress>): Promise<KubernetesApi> {
  let problem = '';
  void server.exited.then((reason) => (problem = reason));
  return waitFor('the API server to be ready', START_TIMEOUT_MS, async () => {
    if (problem !== '') throw new Error(`The API server did not start: ${problem}`);
    // Its certificate, which it generates, exists before it listens.
    const api = await address().then(createKubernetesApi, () => undefined);
    const ready = await api?.call('GET', '/api/v1/namespaces/kube-system').then(
      () => true,
      () => false,
    );
    if (ready) return api;
    api?.close();
    return undefined;
  });
}

interface Credentials {
  tokens: Record<User, string>;
  tokenFile: string;
  privateKeyFile: string;
  publicKeyFile: string;
}

async function makeCredentials(directory: string): Promise<Credentials> {
  const token = () => randomBytes(24).toString('base64url');
  const tokens: Record<User, string> = {
    admin: token(),
    'controller-manager': token(),
    scheduler: token(),
    proxy: token(),
    kubelet: token(),
  };
  const lines = Object.entries(USERS).map(
    ([user, { name, group }]) => `${tokens[user as User]},${name},${user},"${group}"`,
  );
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const write = async (name: string, text: string | Buffer) => {
    const file = join(directory, name);
    await writeFile(file, text, { mode: 0o600 });
    return file;
  };
  return {
    tokens,
    tokenFile: await write('tokens.csv', `${lines.join('\n')}\n`),
    privateKeyFile: await write('service-accounts.key', privateKey.export({ type: 'pkcs8', format: 'pem' })),
    publicKeyFile: await write('service-accounts.pub', publicKey.export({ type: 'spki', format: 'pem' })),
  };
}

/** JSON, which is also valid YAML. */
function kubeconfigOf({ url, certificate, token }: { url: string; certificate: string; token: string }): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster: { server: url, 'certificate-authority': certificate } }],
    users: [{ name: 'user', user: { token } }],
    contexts: [{ name: 'context', context: { cluster: 'cluster', user: 'user' } }],
    'current-context': 'context',
  });
}
