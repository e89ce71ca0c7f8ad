import { type Container, type Labels, type Manifest, ofKind } from './manifest.ts';

/**
 * What the kubelet would give to a container: variables of its own over those of whole ConfigMaps. `secrets` stands in for
 * Secrets that are made apart from the manifests. Throws on a reference that leads nowhere and is not optional.
 */
export function environmentOf(container: Container, manifests: Manifest[], secrets: Record<string, Labels>): Labels {
  const configMaps = Object.fromEntries(
    ofKind(manifests, 'ConfigMap').map(({ metadata, data }) => [metadata.name, data]),
  );
  const environment: Labels = {};
  for (const { configMapRef } of container.envFrom ?? []) {
    Object.assign(environment, required(configMaps[configMapRef.name], `ConfigMap ${configMapRef.name}`));
  }
  for (const { name, value, valueFrom = {} } of container.env ?? []) {
    const [reference, objects] = valueFrom.secretKeyRef
      ? [valueFrom.secretKeyRef, secrets]
      : [valueFrom.configMapKeyRef, configMaps];
    const found = reference === undefined ? value : objects[reference.name]?.[reference.key];
    if (found === undefined && reference?.optional) continue;
    environment[name] = required(found, `${name}, key ${reference?.key} of ${reference?.name}`);
  }
  return environment;
}

function required<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what} is not there`);
  return value;
}

/** Keys that containers take from Secrets. */
export function secretKeys(containers: Container[]): string[] {
  const references = containers.flatMap(({ env = [] }) => env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.key));
  return [...new Set(references.filter((key) => key !== undefined))].sort();
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
