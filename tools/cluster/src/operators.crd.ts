import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { KubernetesApi, KubernetesObject } from './kubernetes.api.ts';
import { findModule } from './programs.ts';
import { waitFor } from './wait.ts';

const PROMETHEUS = {
  module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
  folder: 'example/prometheus-operator-crd',
};
const GATEWAY = { module: 'sigs.k8s.io/gateway-api@v1.2.1', folder: 'config/crd/standard' };

/** Kinds that operators add to a cluster, and that the component `monitoring` and the chart use. */
const KINDS = [
  { ...PROMETHEUS, group: 'monitoring.coreos.com', resource: 'podmonitors' },
  { ...PROMETHEUS, group: 'monitoring.coreos.com', resource: 'prometheusrules' },
  { ...GATEWAY, group: 'gateway.networking.k8s.io', resource: 'httproutes' },
];
const SERVED_WITHIN_MS = 90_000;

/** Adds the kinds of operators to the cluster. Resolves once the API server serves them. */
export async function addKindsOfOperators(api: KubernetesApi): Promise<void> {
  for (const { module, folder, group, resource } of KINDS) {
    const file = join(await findModule(module), folder, `${group}_${resource}.yaml`);
    await api.apply(parse(await readFile(file, 'utf8')) as KubernetesObject);
    await waitFor(`the kind ${resource}`, SERVED_WITHIN_MS, () =>
      api.list(`${group}/v1`, resource).catch(() => undefined),
    );
  }
}
