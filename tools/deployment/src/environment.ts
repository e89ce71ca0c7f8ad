import { type Labels, type Manifest, ofKind, type PodSpec } from './manifest.ts';

/**
 * The environment that the kubelet would give to the single container of a pod: its own variables over those of whole
 * ConfigMaps. `<name>_FILE` with the path of a mounted key of a Secret becomes `<name>` with the content of the file.
 * `secrets` has the Secrets that are created outside of the manifests. Throws on a required reference without a target,
 * and on a file that is not mounted.
 */
export function environmentOf(pod: PodSpec, manifests: Manifest[], secrets: Record<string, Labels>): Labels {
  const [container] = pod.containers;
  const configMaps = Object.fromEntries(
    ofKind(manifests, 'ConfigMap').map(({ metadata, data }) => [metadata.name, data]),
  );
  const environment: Labels = {};
  for (const { configMapRef } of container?.envFrom ?? []) {
    Object.assign(environment, required(configMaps[configMapRef.name], `ConfigMap ${configMapRef.name}`));
  }
  for (const { name, value, valueFrom } of container?.env ?? []) {
    const reference = valueFrom?.configMapKeyRef;
    const found = reference === undefined ? value : configMaps[reference.name]?.[reference.key];
    if (found === undefined && reference?.optional) continue;
    environment[name] = required(found, `${name}, key ${reference?.key} of ${reference?.name}`);
  }
  return withFilesRead(environment, secretFiles(pod, secrets));
}

function withFilesRead(environment: Labels, files: Map<string, string | null>): Labels {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => {
      const [, dash, file] = /^(-?)(\/run\/secrets\/.+)/.exec(value) ?? [];
      if (!name.endsWith('_FILE') || file === undefined) return [[name, value]];
      const text = required(files.get(file), `${name}, the file ${file}`);
      if (text === null && dash === '') throw new Error(`${name} may be missing, and no dash says so`);
      return text === null ? [] : [[name.replace(/_FILE$/, ''), text]];
    }),
  );
}

/** The content of each file that a pod mounts from Secrets, by path; null for an optional key that does not exist. */
function secretFiles({ containers: [container], volumes = [] }: PodSpec, secrets: Record<string, Labels>) {
  const files = new Map<string, string | null>();
  for (const { name, secret } of volumes) {
    const mount = container?.volumeMounts?.find((each) => each.name === name);
    if (secret === undefined || mount === undefined) continue;
    for (const { key, path } of secret.items) {
      const text = secrets[secret.secretName]?.[key] ?? (secret.optional ? null : undefined);
      files.set(`${mount.mountPath}/${path}`, required(text, `key ${key} of ${secret.secretName}`));
    }
  }
  return files;
}

function required<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what} is not there`);
  return value;
}

/** Keys of Secrets that pods mount. */
export function secretKeys(pods: PodSpec[]): string[] {
  const keys = pods.flatMap(({ volumes = [] }) =>
    volumes.flatMap(({ secret }) => secret?.items.map(({ key }) => key) ?? []),
  );
  return [...new Set(keys)].sort();
}

/** The data of Secrets among the manifests, decoded. */
export function decodedSecrets(manifests: Manifest[]): Record<string, Labels> {
  return Object.fromEntries(
    ofKind(manifests, 'Secret').map(({ metadata, data }) => [
      metadata.name,
      Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()])),
    ]),
  );
}
