import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Manifest, ofKind, renderOverlay, ROOT } from '@tollkeeper/deployment';
import { parse } from 'yaml';
import { type ControlPlane, startControlPlane } from '../src/control-plane.ts';
import type { KubernetesObject } from '../src/kubernetes.api.ts';
import { addKindsOfOperators } from '../src/operators.crd.ts';
import { SECRETS_POLICY } from '../src/secrets.policy.ts';
import { waitFor } from '../src/wait.ts';

const BUILD_TIMEOUT_MS = 45 * 60_000;
const PODS_TIMEOUT_MS = 90_000;

interface Workload extends KubernetesObject {
  spec: { replicas: number };
  status: { replicas?: number; conditions?: { type: string; status: string; message: string }[] };
}

interface Autoscaler extends KubernetesObject {
  status?: { conditions?: { type: string; status: string; reason: string; message: string }[] };
}

interface DisruptionBudget extends KubernetesObject {
  status?: { expectedPods: number; conditions?: { type: string; reason: string }[] };
}

interface Pod extends KubernetesObject {
  status: { phase: string };
}

/** An overlay in its own namespace, since all overlays are applied to one cluster. */
interface Installation {
  overlay: string;
  namespace: string;
  manifests: Manifest[];
}

let directory: string;
let cluster: ControlPlane;
let installations: Installation[];

/** Every component of k8s/components that the production overlay does not include. */
async function componentsBesideProduction(): Promise<string[]> {
  const { components } = parse(await readFile(join(ROOT, 'k8s/overlays/production/kustomization.yaml'), 'utf8')) as {
    components: string[];
  };
  const all = await readdir(join(ROOT, 'k8s/components'));
  return all.filter((name) => !components.includes(`../../components/${name}`));
}

async function install(overlay: string, namespace: string, components: string[] = []): Promise<Installation> {
  const { manifests } = await renderOverlay(overlay, components);
  for (const { kind, metadata } of manifests) {
    if (kind === 'Namespace') metadata.name = namespace;
    else metadata.namespace = namespace;
  }
  return { overlay, namespace, manifests };
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tollkeeper-cluster-'));
  cluster = await startControlPlane({ directory, onProgress: (line) => void process.stderr.write(`${line}\n`) });
  await addKindsOfOperators(cluster.api);
  for (const object of SECRETS_POLICY) await cluster.api.apply(object);
  await waitFor('the policy about secrets to be in force', PODS_TIMEOUT_MS, async () =>
    (await refusalOf(podWith({ env: [SECRET_VARIABLE] }))).includes('secret is in a variable') ? true : undefined,
  );
  installations = [
    await install('local', 'local'),
    await install('production', 'production'),
    await install('production', 'complete', await componentsBesideProduction()),
  ];
}, BUILD_TIMEOUT_MS);

afterAll(async () => {
  await cluster?.stop();
  await rm(directory, { recursive: true, force: true });
});

const SECRET_VARIABLE = { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'any', key: 'PASSWORD' } } };

/** A pod that a restricted namespace admits, with `more` in its container. */
function podWith(more: object): object {
  const securityContext = {
    ...{ allowPrivilegeEscalation: false, runAsNonRoot: true, capabilities: { drop: ['ALL'] } },
    seccompProfile: { type: 'RuntimeDefault' },
  };
  const container = { name: 'intruder', image: 'intruder', securityContext, ...more };
  const spec = { automountServiceAccountToken: false, containers: [container] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'intruder' }, spec };
}

/** The API server's refusal of a pod; empty if it would accept the pod. Creates nothing. */
function refusalOf(pod: object): Promise<string> {
  return cluster.api.call('POST', '/api/v1/namespaces/default/pods?dryRun=All', pod).then(
    () => '',
    (error: Error) => error.message,
  );
}

/** Why a workload lacks pods; undefined while that is open, empty if it has all of them. */
function missingPods({ metadata, spec, status }: Workload): string | undefined {
  const failure = status.conditions?.find(({ type, status: state }) => type === 'ReplicaFailure' && state === 'True');
  if (failure !== undefined) return `${metadata.name}: ${failure.message}`;
  return (status.replicas ?? 0) >= spec.replicas ? '' : undefined;
}

async function workloads(namespace: string): Promise<Workload[]> {
  const { api } = cluster;
  const kinds = ['deployments', 'statefulsets'].map((kind) => api.list<Workload>('apps/v1', kind, namespace));
  return (await Promise.all(kinds)).flat();
}

/** Why workloads of a namespace could not get their pods. */
function refusedPods(namespace: string): Promise<string[]> {
  return waitFor(`the pods of ${namespace}`, PODS_TIMEOUT_MS, async () => {
    const states = (await workloads(namespace)).map(missingPods);
    const known = states.filter((state) => state !== undefined);
    return known.length < states.length ? undefined : known.filter((state) => state !== '');
  });
}

describe('a Kubernetes API server', () => {
  it('takes every object of both overlays and of all components, with strict validation and without a warning', async () => {
    const warnings: string[] = [];
    for (const { overlay, manifests } of installations) {
      expect(manifests.length).toBeGreaterThan(30);
      for (const manifest of manifests) {
        const applied = await cluster.api.apply(manifest);
        warnings.push(...applied.warnings.map((warning) => `${overlay}: ${manifest.kind}: ${warning}`));
      }
    }
    expect(warnings).toEqual([]);
  });

  it('admits every pod of theirs to a namespace of the restricted Pod Security Standard, where no variable may be a secret', async () => {
    for (const { namespace, manifests } of installations) {
      const { metadata } = await cluster.api.get<KubernetesObject>('v1', 'namespaces', namespace);
      expect(metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
      expect(await refusedPods(namespace)).toEqual([]);

      const wanted = ofKind(manifests, 'Deployment').length + ofKind(manifests, 'StatefulSet').length;
      const pods = await cluster.api.list<Pod>('v1', 'pods', namespace);
      expect(pods.length).toBeGreaterThanOrEqual(wanted);
      expect([...new Set(pods.map(({ status }) => status.phase))]).toEqual(['Pending']);
    }
  });

  it('changes nothing when the same is applied again, so that no pod is replaced by it', async () => {
    for (const { manifests } of installations) {
      for (const kind of ['Deployment', 'StatefulSet', 'NetworkPolicy', 'PodDisruptionBudget'] as const) {
        for (const manifest of ofKind(manifests, kind)) {
          const before = (await cluster.api.apply<KubernetesObject>(manifest)).object.metadata;
          const after = (await cluster.api.apply<KubernetesObject>(manifest)).object.metadata;
          expect([manifest.metadata.name, after.generation]).toEqual([manifest.metadata.name, before.generation]);
        }
      }
    }
  });

  it('finds what each autoscaler scales', async () => {
    const wanted = installations.flatMap(({ manifests }) => ofKind(manifests, 'HorizontalPodAutoscaler'));
    expect(wanted.length).toBeGreaterThan(0);
    const conditions = await waitFor('the state of the autoscalers', PODS_TIMEOUT_MS, async () => {
      const autoscalers = await cluster.api.list<Autoscaler>('autoscaling/v2', 'horizontalpodautoscalers');
      const able = autoscalers.map(({ status }) => status?.conditions?.find(({ type }) => type === 'AbleToScale'));
      return able.length === wanted.length && !able.includes(undefined) ? able : undefined;
    });
    for (const condition of conditions) expect(condition).toMatchObject({ status: 'True' });
  });

  it('counts the pods that each disruption budget speaks of', async () => {
    const wanted = installations.flatMap(({ manifests }) => ofKind(manifests, 'PodDisruptionBudget'));
    const expected = await waitFor('the state of the disruption budgets', PODS_TIMEOUT_MS, async () => {
      const budgets = await cluster.api.list<DisruptionBudget>('policy/v1', 'poddisruptionbudgets');
      const pods = budgets.map(({ status }) => status?.expectedPods ?? 0);
      return pods.length === wanted.length && !pods.includes(0) ? pods : undefined;
    });
    expect(expected).toHaveLength(wanted.length);
  });
});

describe('the same API server refuses', () => {
  const NAMESPACE = 'intruders';
  const labels = { app: 'intruder' };
  const podSpec = { containers: [{ name: 'intruder', image: 'intruder', securityContext: { privileged: true } }] };

  beforeAll(async () => {
    const enforced = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await cluster.api.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels: enforced } });
  });

  it('a field that it does not know, and a value of the wrong type', async () => {
    const [installation] = installations;
    const [deployment] = ofKind(installation?.manifests ?? [], 'Deployment');
    if (deployment === undefined) throw new Error('The overlay has no Deployment');
    const unknown = { ...deployment, spec: { ...deployment.spec, replica: 2 } };
    await expect(cluster.api.apply(unknown)).rejects.toThrow('.spec.replica: field not declared in schema');
    const mistyped = { ...deployment, spec: { ...deployment.spec, replicas: 'two' } };
    await expect(cluster.api.apply(mistyped)).rejects.toThrow('.spec.replicas');
  });

  it('a field that the kind of an operator does not know', async () => {
    const monitor = {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PodMonitor',
      metadata: { name: 'intruder', namespace: NAMESPACE },
      spec: { selector: {}, podMetricsEndpoint: [] },
    };
    await expect(cluster.api.apply(monitor)).rejects.toThrow('spec.podMetricsEndpoint');
  });

  it('a privileged pod', async () => {
    const metadata = { name: 'intruder', namespace: NAMESPACE };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: podSpec };
    await expect(cluster.api.apply(pod)).rejects.toThrow(/violates PodSecurity "restricted:latest": privileged/);
  });

  it('a pod with a key of a Secret, or a whole one, in its variables, and takes the same pod without', async () => {
    expect(await refusalOf(podWith({}))).toBe('');
    const variables = [{ env: [SECRET_VARIABLE] }, { envFrom: [{ secretRef: { name: 'any' } }] }];
    for (const more of variables) expect(await refusalOf(podWith(more))).toContain('a secret is in a variable');
  });

  it('the pods of a workload that would be privileged, and the workload says why', async () => {
    await cluster.api.apply({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'intruder', namespace: NAMESPACE },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } },
    });
    expect(await refusedPods(NAMESPACE)).toEqual([expect.stringContaining('violates PodSecurity "restricted:latest"')]);
  });
});
