import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { command } from './command.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { clusterObjects, NAME_SERVER } from './node.objects.ts';
import { findPrograms, NODE, type OnProgress, RUNC } from './programs.ts';
import { type ServerProcess, startServer } from './server.process.ts';
import { waitFor } from './wait.ts';

/** This machine's address in the pods' network, at which the API server listens and from which the checks call. */
export const HOST_ADDRESS = '10.244.0.1';
const SERVICE_NETWORK = '10.96.0.0/16';
const CGROUP = 'tollkeeper-cluster';
const CNI_PLUGINS = '/usr/lib/cni';
const READY_TIMEOUT_MS = 180_000;

export interface Node extends ControlPlane {
  /** Path of the container's cgroup in the hierarchy of `controller` (cgroup v1), or in the only one (v2). */
  cgroupOf(controller: string, podUid: string, containerId: string): string;
}

export interface NodeOptions {
  /** A new directory on a disk with some gigabytes. */
  directory: string;
  /** Tar files with every image that pods need. */
  images: string[];
  onProgress: OnProgress;
}

/**
 * Makes this network namespace a Kubernetes of one node, which changes its interfaces, routes and packet filter. Needs
 * root. If this process is the first one of a process namespace, everything ends with it.
 */
export async function startNode({ directory, images, onProgress }: NodeOptions): Promise<Node> {
  const [programs, runc] = [await findPrograms(NODE, onProgress), await findPrograms(RUNC, onProgress)];
  const path = (...parts: string[]) => join(directory, ...parts);
  for (const name of ['logs', 'cni', 'kubelet', 'run', 'pod-logs']) await mkdir(path(name), { recursive: true });
  await prepareNetwork();
  await prepareCgroup();
  onProgress('Starting the control plane…');
  const control = await startControlPlane({
    directory,
    onProgress,
    host: HOST_ADDRESS,
    serviceNetwork: SERVICE_NETWORK,
  });
  const servers: ServerProcess[] = [];
  const start = (program: string, args: string[]) => {
    const env = { ...process.env, PATH: `${runc}:${process.env['PATH']}` };
    const server = startServer({ program, args, env, logFile: path('logs', `${program.split('/').at(-1)}.log`) });
    servers.push(server);
  };

  start('containerd', [
    '--config',
    await write(path('containerd.toml'), containerdConfig(directory, join(runc, 'runc'))),
  ]);
  const ctr = ['--address', path('run/containerd.sock'), '--namespace', 'k8s.io'];
  await waitFor('containerd', READY_TIMEOUT_MS, () => command('ctr', [...ctr, 'version']).catch(() => undefined));
  onProgress('Loading the images…');
  for (const file of images) await command('ctr', [...ctr, 'images', 'import', file]);

  await write(path('cni/10-bridge.conflist'), JSON.stringify(bridge()));
  const configuration = await write(path('kubelet.json'), JSON.stringify(kubeletConfiguration(directory)));
  start(join(programs, 'kube-scheduler'), [
    `--kubeconfig=${await control.kubeconfig('scheduler')}`,
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
  ]);
  start(join(programs, 'kubelet'), [
    `--config=${configuration}`,
    `--kubeconfig=${await control.kubeconfig('kubelet')}`,
    `--root-dir=${path('kubelet')}`,
    `--cert-dir=${path('kubelet/pki')}`,
    '--hostname-override=node',
    `--node-ip=${HOST_ADDRESS}`,
  ]);
  start(join(programs, 'kube-proxy'), [
    `--kubeconfig=${await control.kubeconfig('proxy')}`,
    '--hostname-override=node',
    '--proxy-mode=iptables',
    // A setting of the whole machine, which this namespace may not change.
    '--conntrack-max-per-core=0',
    '--conntrack-tcp-timeout-established=0',
    '--conntrack-tcp-timeout-close-wait=0',
    '--metrics-bind-address=127.0.0.1:10249',
  ]);
  for (const volume of ['volumes/a', 'volumes/b']) {
    await mkdir(path(volume), { recursive: true });
    // fsGroup does not apply to a hostPath volume.
    await chmod(path(volume), 0o777);
  }
  for (const object of clusterObjects([path('volumes/a'), path('volumes/b')])) await control.api.apply(object);
  onProgress('Waiting for the node and its name server…');
  await waitForNode(control);

  return {
    ...control,
    cgroupOf: (controller, podUid, containerId) => cgroupOf(controller, podUid, containerId),
    async stop() {
      for (const server of [...servers].reverse()) await server.stop();
      await control.stop();
    },
  };
}

async function prepareNetwork(): Promise<void> {
  await command('ip', ['link', 'set', 'lo', 'up']);
  await command('ip', ['link', 'add', 'cni0', 'type', 'bridge']);
  await command('ip', ['address', 'add', `${HOST_ADDRESS}/24`, 'dev', 'cni0']);
  await command('ip', ['link', 'set', 'cni0', 'up']);
  // Addresses of Services are rewritten on their way out, which requires a route.
  await command('ip', ['route', 'add', 'default', 'dev', 'cni0']);
  const settings = ['net.ipv4.ip_forward=1', 'net.bridge.bridge-nf-call-iptables=1'];
  await command('sysctl', ['--quiet', '--write', ...settings]);
}

/** Folders of the hierarchies (cgroup v1), or the only one (v2). */
function cgroupHierarchies(): string[] {
  const root = '/sys/fs/cgroup';
  if (existsSync(join(root, 'cgroup.controllers'))) return [root];
  const controllers = [
    'cpu',
    'cpuacct',
    'cpuset',
    'memory',
    'devices',
    'freezer',
    'blkio',
    'pids',
    'hugetlb',
    'systemd',
  ];
  return controllers.map((name) => join(root, name)).filter((folder) => existsSync(folder));
}

async function prepareCgroup(): Promise<void> {
  for (const folder of cgroupHierarchies()) await mkdir(join(folder, CGROUP), { recursive: true });
}

function cgroupOf(controller: string, podUid: string, containerId: string): string {
  const hierarchies = cgroupHierarchies();
  const root = hierarchies.find((folder) => folder.endsWith(`/${controller}`)) ?? hierarchies[0] ?? '';
  const found = ['guaranteed', 'burstable', 'besteffort']
    .map((quality) =>
      join(root, CGROUP, 'kubepods', quality === 'guaranteed' ? '' : quality, `pod${podUid}`, containerId),
    )
    .find((folder) => existsSync(folder));
  if (found === undefined) throw new Error(`The container ${containerId} has no cgroup`);
  return found;
}

async function waitForNode({ api }: ControlPlane): Promise<void> {
  await waitFor('the node to be ready', READY_TIMEOUT_MS, async () => {
    const [node] = await api.list<{ status: { conditions?: { type: string; status: string }[] } }>('v1', 'nodes');
    return node?.status.conditions?.find(({ type, status }) => type === 'Ready' && status === 'True');
  });
  await waitFor('the name server to be ready', READY_TIMEOUT_MS, async () => {
    const { status } = await api.get<{ status: { availableReplicas?: number } }>(
      'apps/v1',
      'deployments',
      'coredns',
      'kube-system',
    );
    return status.availableReplicas;
  });
}

async function write(file: string, text: string): Promise<string> {
  await writeFile(file, text);
  return file;
}

function bridge(): object {
  const ranges = [[{ subnet: '10.244.0.0/24', gateway: HOST_ADDRESS }]];
  const routes = [{ dst: '0.0.0.0/0' }];
  const ipam = { type: 'host-local', dataDir: '/run/tollkeeper-cluster-addresses', ranges, routes };
  return {
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [{ type: 'bridge', bridge: 'cni0', isGateway: true, ipMasq: true, hairpinMode: true, ipam }],
  };
}

function kubeletConfiguration(directory: string): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: HOST_ADDRESS,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true } },
    authorization: { mode: 'Webhook' },
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${CGROUP}`,
    clusterDNS: [NAME_SERVER],
    clusterDomain: 'cluster.local',
    containerRuntimeEndpoint: `unix://${join(directory, 'run/containerd.sock')}`,
    enforceNodeAllocatable: ['pods'],
    evictionHard: { 'memory.available': '200Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    failCgroupV1: false,
    failSwapOn: false,
    // Never removes images, because they cannot be downloaded again.
    imageGCHighThresholdPercent: 100,
    podLogsDir: join(directory, 'pod-logs'),
    resolvConf: '',
  };
}

function containerdConfig(directory: string, runc: string): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return `version = 2
root = "${join(directory, 'containerd')}"
state = "${join(directory, 'run/containerd')}"
[grpc]
  address = "${join(directory, 'run/containerd.sock')}"
[${cri}]
  sandbox_image = "registry.k8s.io/pause:3.10"
  # Not every machine lets a process be less willing to be killed than its parent.
  restrict_oom_score_adj = true
[${cri}.cni]
  bin_dir = "${CNI_PLUGINS}"
  conf_dir = "${join(directory, 'cni')}"
[${cri}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[${cri}.containerd.runtimes.runc.options]
  BinaryName = "${runc}"
`;
}
