import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '@tollkeeper/deployment';
import type { Node } from './node.ts';
import { waitFor } from './wait.ts';

export const NAMESPACE = 'tollkeeper';
const READY_TIMEOUT_MS = 240_000;

export interface Pod {
  metadata: { name: string; uid: string; labels: Record<string, string>; deletionTimestamp?: string };
  status: {
    podIP?: string;
    conditions?: { type: string; status: string }[];
    containerStatuses?: { containerID?: string; restartCount: number }[];
  };
}

interface Workload {
  metadata: { name: string; generation: number };
  spec: { replicas: number };
  status: { observedGeneration?: number; replicas?: number; updatedReplicas?: number; readyReplicas?: number };
}

/**
 * The installation in the cluster, for an operator's actions. Apps are named by their label `app.kubernetes.io/name`.
 */
export interface Installation {
  /** Applies the objects in this order. */
  apply(manifests: Manifest[]): Promise<void>;
  pods(app?: string): Promise<Pod[]>;
  /** `http://<address of its Service>:8080`, as pods reach it. */
  gatewayUrl(): Promise<string>;
  /** Resolves once every workload, or only that of the app, has all replicas in the newest version and ready. */
  settled(app?: string): Promise<void>;
  scale(replicas: number): Promise<void>;
  /** Like `kubectl rollout restart`; resolves once the new pods are ready and the old ones gone. */
  restart(app: string): Promise<void>;
  /** Ends the processes of a pod with SIGKILL; resolves once it is ready again. */
  kill(pod: Pod): Promise<void>;
  /** Evicts the pod, as a drain of the node does; resolves once another one is ready and this one gone. */
  evict(pod: Pod): Promise<void>;
}

export function createInstallation(node: Node): Installation {
  const { api } = node;

  async function pods(app?: string): Promise<Pod[]> {
    const all = await api.list<Pod>('v1', 'pods', NAMESPACE);
    return all.filter((pod) => app === undefined || appOf(pod) === app);
  }

  async function settled(app?: string): Promise<void> {
    await waitFor(`${app ?? 'all workloads'} to be ready`, READY_TIMEOUT_MS, async () => {
      const kinds = ['deployments', 'statefulsets'].map((kind) => api.list<Workload>('apps/v1', kind, NAMESPACE));
      const workloads = (await Promise.all(kinds)).flat();
      const chosen = workloads.filter(
        ({ metadata: { name } }) => app === undefined || nameOf(app) === name || app === name,
      );
      const replicas = chosen.reduce((sum, { spec }) => sum + spec.replicas, 0);
      const there = (await pods(app)).filter(isReady);
      return chosen.every(isSettled) && there.length === replicas && (await pods(app)).length === replicas
        ? true
        : undefined;
    });
  }

  return {
    async apply(manifests) {
      for (const manifest of manifests) await api.apply(manifest);
    },
    pods,
    settled,
    async gatewayUrl() {
      const { spec } = await api.get<{ spec: { clusterIP: string } }>('v1', 'services', nameOf('gateway'), NAMESPACE);
      return `http://${spec.clusterIP}:8080`;
    },
    async scale(replicas) {
      const deployments = await api.list<Workload>('apps/v1', 'deployments', NAMESPACE);
      for (const { metadata } of deployments) {
        const path = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/${metadata.name}/scale`;
        const scale = await api.call<{ spec: object }>('GET', path);
        await api.call('PUT', path, { ...scale, spec: { replicas } });
      }
      await settled();
    },
    async restart(app) {
      const path = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/${nameOf(app)}`;
      const annotations = { 'kubectl.kubernetes.io/restartedAt': new Date().toISOString() };
      await api.merge(path, { spec: { template: { metadata: { annotations } } } });
      await settled(app);
    },
    async kill(pod) {
      const { containerID = '', restartCount = 0 } = pod.status.containerStatuses?.[0] ?? {};
      const cgroup = node.cgroupOf('memory', pod.metadata.uid, containerID.replace('containerd://', ''));
      const processes = await readFile(join(cgroup, 'cgroup.procs'), 'utf8');
      for (const pid of processes.trim().split('\n').filter(Boolean)) process.kill(Number(pid), 'SIGKILL');
      await waitFor(`${pod.metadata.name} to be ready again`, READY_TIMEOUT_MS, async () => {
        const now = (await pods()).find(({ metadata }) => metadata.uid === pod.metadata.uid);
        const restarted = (now?.status.containerStatuses?.[0]?.restartCount ?? 0) > restartCount;
        return restarted && now !== undefined && isReady(now) ? true : undefined;
      });
    },
    async evict({ metadata }) {
      const body = {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: metadata.name, namespace: NAMESPACE },
      };
      await api.call('POST', `/api/v1/namespaces/${NAMESPACE}/pods/${metadata.name}/eviction`, body);
      await waitFor(`${metadata.name} to be gone`, READY_TIMEOUT_MS, async () =>
        (await pods()).every((pod) => pod.metadata.uid !== metadata.uid) ? true : undefined,
      );
      await settled(metadata.labels['app.kubernetes.io/name']);
    },
  };
}

export function appOf({ metadata }: Pod): string {
  return metadata.labels['app.kubernetes.io/name'] ?? '';
}

function nameOf(app: string): string {
  return `tollkeeper-${app}`;
}

function isReady({ metadata, status }: Pod): boolean {
  const ready = status.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True') === true;
  return ready && metadata.deletionTimestamp === undefined;
}

function isSettled({ metadata, spec, status }: Workload): boolean {
  return (
    status.observedGeneration === metadata.generation &&
    status.replicas === spec.replicas &&
    (status.updatedReplicas ?? 0) === spec.replicas &&
    status.readyReplicas === spec.replicas
  );
}
