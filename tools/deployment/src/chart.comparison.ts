import { type Labels, type Manifest, ofKind } from './manifest.ts';

/*
 * The chart and k8s/ make the same objects. These are all the differences:
 *
 * 1. Helm creates no namespace, and sets that of the objects.
 * 2. ConfigMaps and Secrets of kustomize have a hash in their names. Pods of the chart have it in an annotation.
 * 3. MongoDB and Kafka of a trial have the name of the release in front.
 * 4. Objects of the chart have more labels and annotations, and all selectors name the release.
 * 5. A selector may say `In` with one value in place of the value. Lists of objects may be in another order, and an
 *    empty list may be left out.
 */

const SERVERS = 'mongodb|kafka';
const HASHED = /-[a-z0-9]{10}$/;
const RELEASE = 'app.kubernetes.io/instance';

/** The objects of a `kustomize build` by kind and name, as the chart makes them for the release `tollkeeper`. */
export function objectsOfOverlay(manifests: Manifest[]): Map<string, Manifest> {
  const named = [...ofKind(manifests, 'ConfigMap'), ...ofKind(manifests, 'Secret')].map(
    ({ metadata }) => metadata.name,
  );
  const withoutHashes = named.reduce(
    (text, name) => text.replaceAll(`"${name}"`, `"${name.replace(HASHED, '')}"`),
    JSON.stringify(manifests.filter(({ kind }) => kind !== 'Namespace').map(decoded)),
  );
  const renamed = withoutHashes
    .replace(new RegExp(`(?<![\\w-])(${SERVERS}):(27017|9092)`, 'g'), 'tollkeeper-$1:$2')
    .replace(new RegExp(`"(serviceName|hostnames)":(\\[?)"(${SERVERS})"`, 'g'), '"$1":$2"tollkeeper-$3"');
  return byName(
    (JSON.parse(renamed) as Manifest[]).map(({ metadata: { namespace: _, ...metadata }, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, name: nameOfServer(rest.kind, metadata.name) },
    })),
  );
}

function nameOfServer(kind: string, name: string): string {
  if (!SERVERS.split('|').includes(name)) return name;
  return kind === 'NetworkPolicy' ? `tollkeeper-${name}-server` : `tollkeeper-${name}`;
}

/** The objects of the chart by kind and name. They keep those of their labels and annotations that `overlay` has. */
export function objectsOfChart(manifests: Manifest[], overlay: Map<string, Manifest>): Map<string, Manifest> {
  const objects = byName(manifests.map(decoded));
  for (const [name, object] of objects) {
    const same = overlay.get(name);
    if (same !== undefined) objects.set(name, withLabelsOf(object, same) as Manifest);
  }
  return objects;
}

/** `value` with those labels and annotations alone that `model` has at the same place. */
function withLabelsOf(value: unknown, model: unknown): unknown {
  if (!isObject(value) || !isObject(model)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      const same = model[key];
      if (key !== 'labels' && key !== 'annotations') return [[key, withLabelsOf(inner, same)]];
      const kept = Object.entries(inner as Labels).filter(([label]) => isObject(same) && label in same);
      return kept.length === 0 ? [] : [[key, Object.fromEntries(kept)]];
    }),
  );
}

function byName(manifests: Manifest[]): Map<string, Manifest> {
  return new Map(
    manifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, normalForm(manifest) as Manifest]),
  );
}

/** A Secret with the text of its values. */
function decoded(manifest: Manifest): Manifest {
  const [secret] = ofKind([manifest], 'Secret');
  if (secret === undefined) return manifest;
  const data = Object.entries(secret.data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]);
  return { ...secret, ...{ data: Object.fromEntries(data) as Labels } };
}

function normalForm(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(normalForm);
    return items.every(isObject) ? items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items;
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(withoutExpressions(value)).filter(
    ([key, item]) => key !== RELEASE && !isEmptyList(item),
  );
  const inner = entries.map(([key, item]) => [key, normalForm(item)] as const);
  return Object.fromEntries(inner.sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface Expression {
  key: string;
  operator: string;
  values: string[];
}

/** Writes `In` with one value as a label. */
function withoutExpressions(value: { matchExpressions?: Expression[]; matchLabels?: Labels }): Record<string, unknown> {
  const { matchExpressions = [], matchLabels = {}, ...rest } = value;
  const single = matchExpressions.filter(({ operator, values }) => operator === 'In' && values.length === 1);
  const others = matchExpressions.filter((expression) => !single.includes(expression));
  const named = Object.entries(matchLabels).filter(([key]) => key !== RELEASE);
  const labels = Object.fromEntries([...named, ...single.map(({ key, values }) => [key, values[0]])]);
  return {
    ...rest,
    ...(Object.keys(labels).length > 0 && { matchLabels: labels }),
    ...(others.length > 0 && { matchExpressions: others }),
  };
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
