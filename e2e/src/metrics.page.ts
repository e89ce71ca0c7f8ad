import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A metric with its name, its type and its labels in alphabetical order, without `service` and those of Prometheus. */
export interface Metric {
  name: string;
  type: string;
  labels: string[];
}

const PAGE = join(import.meta.dirname, '../../docs/metrics.md');
/** The client library's metrics of every Node process. */
const OF_PROCESS = /^(process|nodejs)_/;
const NOT_OUR_LABELS = new Set(['service', 'le']);

/** The metrics that docs/metrics.md lists. */
export async function documentedMetrics(): Promise<Metric[]> {
  const rows = (await readFile(PAGE, 'utf8')).matchAll(/^\| `(\w+)` *\| (\w+) *\| ([^|]+?) *\|/gm);
  return [...rows].map(([, name = '', type = '', labels = '']) => ({
    name,
    type,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label).toSorted(),
  }));
}

/** The metrics in one or more expositions; those without a series have no labels. */
export function servedMetrics(exposition: string): Metric[] {
  const types = new Map(
    [...exposition.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  );
  return [...types]
    .map(([name, type]) => ({ name, type, labels: labelsOf(exposition, name) }))
    .filter(({ name }) => !OF_PROCESS.test(name));
}

function labelsOf(exposition: string, name: string): string[] {
  const series = exposition.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?\\{(.*)\\} \\S+$`, 'gm'));
  const labels = [...series].flatMap(([, text = '']) => [...text.matchAll(/(\w+)="/g)].map(([, label = '']) => label));
  return [...new Set(labels)].filter((label) => !NOT_OUR_LABELS.has(label)).toSorted();
}
