import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from './manifest.ts';
import { type Rendered, ROOT } from './render.ts';
import { helm, type ToolResult } from './tools.ts';

export const CHART = join(ROOT, 'charts/tollkeeper');
export const PRODUCTION_VALUES = join(CHART, 'examples/production.yaml');
/** The version for which `helm template` renders; without a cluster, Helm cannot know it. */
const KUBE_VERSION = ['--kube-version', '1.34'];

export interface ChartOptions {
  /** The name of the release, and of its namespace. */
  release?: string;
  /** Files with values, below `values`. */
  files?: string[];
}

/** What the chart makes of these values, without its tests. Throws what Helm says against them. */
export async function renderChart(values: object, options: ChartOptions = {}): Promise<Rendered> {
  const { exitCode, stdout, stderr } = await templateChart(values, options);
  if (exitCode !== 0) throw new Error(stderr);
  // As Helm reads it: 0440 is an octal number in YAML 1.1.
  const manifests = parseAllDocuments(stdout, { version: '1.1' }).map((document) => document.toJS() as Manifest | null);
  return { manifests: manifests.filter((manifest) => manifest !== null), yaml: stdout };
}

/** `helm template` with values, and the `args` that follow. */
export function templateChart(
  values: object,
  options: ChartOptions = {},
  args = ['--skip-tests'],
): Promise<ToolResult> {
  const { release = 'tollkeeper', files = [] } = options;
  return withValues(values, (file) => {
    const given = [...files, file].flatMap((each) => ['--values', each]);
    return helm(['template', release, CHART, '--namespace', release, ...KUBE_VERSION, ...given, ...args]);
  });
}

/** `helm lint`, which takes warnings for errors. */
export function lintChart(values: object): Promise<ToolResult> {
  return withValues(values, (file) => helm(['lint', CHART, '--strict', '--quiet', ...KUBE_VERSION, '--values', file]));
}

async function withValues<T>(values: object, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'tollkeeper-chart-'));
  try {
    const file = join(folder, 'values.json');
    await writeFile(file, JSON.stringify(values));
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
