import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubernetesValidate } from './tools.ts';

/** The oldest and the newest minor version for which manifests are checked. */
export const KUBERNETES_VERSIONS = ['1.29', '1.34'];
/** Kinds of operators, which are not part of Kubernetes. The suite of tools/cluster checks them. */
const OF_OPERATORS = /^apiVersion: (monitoring\.coreos\.com|gateway\.networking\.k8s\.io)\//m;

/** What the schemas of a version of Kubernetes have against the manifests; empty if nothing. */
export async function validate(yaml: string, version: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollkeeper-validate-'));
  try {
    const file = join(folder, 'manifests.yaml');
    const documents = yaml.split(/^---$/m).filter((document) => !OF_OPERATORS.test(document));
    await writeFile(file, documents.join('---'));
    const { exitCode, stdout, stderr } = await kubernetesValidate(['--strict', '--quiet', '-k', version, file]);
    return exitCode === 0 ? '' : `${stdout}${stderr}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
