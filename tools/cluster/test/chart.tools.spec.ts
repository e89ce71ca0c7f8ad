import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CHART, helm, PRODUCTION_VALUES, renderChart } from '@tollkeeper/deployment';
import { type ControlPlane, startControlPlane } from '../src/control-plane.ts';
import type { KubernetesObject } from '../src/kubernetes.api.ts';
import { addKindsOfOperators } from '../src/operators.crd.ts';

const BUILD_TIMEOUT_MS = 45 * 60_000;
const TRIAL = { trial: { enabled: true } };
const EVERYTHING = {
  ingress: { otlp: { enabled: true } },
  httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] },
  networkPolicy: { mail: true },
  tracing: { enabled: true },
  monitoring: { podMonitor: { enabled: true }, rules: { enabled: true }, dashboard: { enabled: true } },
};

let directory: string;
let cluster: ControlPlane;
let kubeconfig: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tollkeeper-chart-'));
  cluster = await startControlPlane({ directory, onProgress: (line) => void process.stderr.write(`${line}\n`) });
  kubeconfig = await cluster.kubeconfig('admin');
  await addKindsOfOperators(cluster.api);
}, BUILD_TIMEOUT_MS);

afterAll(async () => {
  await cluster?.stop();
  await rm(directory, { recursive: true, force: true });
});

/** A namespace of the restricted Pod Security Standard. It warns of workloads whose pods it would refuse. */
async function addNamespace(name: string): Promise<void> {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await cluster.api.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
}

describe('a Kubernetes API server', () => {
  it.each([
    ['trial', TRIAL, []],
    ['complete', EVERYTHING, [PRODUCTION_VALUES]],
  ] as const)(
    'takes every object of the chart (%s) strictly and without a warning',
    async (namespace, values, files) => {
      await addNamespace(namespace);
      const { manifests } = await renderChart(values, { files: [...files] });
      expect(manifests.length).toBeGreaterThan(60);
      for (const manifest of manifests) {
        manifest.metadata.namespace = namespace;
        const { warnings } = await cluster.api.apply(manifest);
        expect([manifest.kind, manifest.metadata.name, warnings]).toEqual([manifest.kind, manifest.metadata.name, []]);
      }
    },
  );
});

describe('a release', () => {
  const NAMESPACE = 'released';

  async function run(...args: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await helm([...args, '--namespace', NAMESPACE, '--kubeconfig', kubeconfig]);
    if (exitCode !== 0) throw new Error(`helm ${args[0]}: ${stderr}`);
    return stdout;
  }

  async function secret(): Promise<Record<string, string>> {
    const path = `/api/v1/namespaces/${NAMESPACE}/secrets/tollkeeper-secrets`;
    return (await cluster.api.call<{ data: Record<string, string> }>('GET', path)).data;
  }

  /** How often each Deployment has changed. */
  async function generations(): Promise<Record<string, number>> {
    const deployments = await cluster.api.list<KubernetesObject>('apps/v1', 'deployments', NAMESPACE);
    return Object.fromEntries(deployments.map(({ metadata }) => [metadata.name, metadata.generation ?? 0]));
  }

  const logLevel = async () => {
    const path = `/api/v1/namespaces/${NAMESPACE}/configmaps/tollkeeper-alerts`;
    return (await cluster.api.call<{ data: Record<string, string> }>('GET', path)).data['LOG_LEVEL'];
  };

  it('is installed, upgraded, rolled back and removed, and keeps its generated secrets throughout', async () => {
    await addNamespace(NAMESPACE);
    const notes = await run('install', 'tollkeeper', CHART, '--set', 'trial.enabled=true');
    expect(notes).toContain('Log in at http://localhost:8080');
    const [generated, installed] = [await secret(), await generations()];
    expect(generated['CALLER_TOKEN_SECRET']).toMatch(/^.{40,}$/);

    const debug = ['--set', 'trial.enabled=true', '--set', 'services.alerts.env.LOG_LEVEL=debug'];
    await run('upgrade', 'tollkeeper', CHART, ...debug);
    const upgraded = await generations();
    const changed = Object.keys(upgraded).filter((name) => upgraded[name] !== installed[name]);
    expect([changed, await logLevel(), await secret()]).toEqual([['tollkeeper-alerts'], 'debug', generated]);

    await run('rollback', 'tollkeeper');
    expect([await logLevel(), await secret()]).toEqual(['info', generated]);

    await run('uninstall', 'tollkeeper');
    expect([await generations(), await secret()]).toEqual([{}, generated]);
    await run('install', 'tollkeeper', CHART, '--set', 'trial.enabled=true');
    expect(await secret()).toEqual(generated);
  });
});
