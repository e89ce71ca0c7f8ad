import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { KubernetesObject } from './kubernetes.api.ts';
import { findModule } from './programs.ts';

const MODULE = 'github.com/prometheus-operator/prometheus-operator@v0.85.0';
const FILE = 'example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml';

/** The PodMonitor of the Prometheus operator, which the component `monitoring` needs in the cluster. */
export async function podMonitorDefinition(): Promise<KubernetesObject> {
  return parse(await readFile(join(await findModule(MODULE), FILE), 'utf8')) as KubernetesObject;
}
