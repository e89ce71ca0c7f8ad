import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as prom from 'prom-client';
import { parse } from 'yaml';

const root = resolve(import.meta.dirname, '../../..');
export const RULES_DIRECTORY = join(root, 'monitoring/prometheus');

export interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook_url: string };
}

export interface RuleTest {
  name: string;
  alert_rule_test: { alertname: string; exp_alerts: unknown[] }[];
}

interface Panel {
  id: number;
  title: string;
  type: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; refId: string }[];
}

export interface Dashboard {
  uid: string;
  panels: Panel[];
  templating: { list: { name: string; type: string; query: unknown }[] };
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

export function readRules(): Rule[] {
  const { groups } = parse(read('monitoring/prometheus/alerts.yaml')) as { groups: { rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

export function readRuleTests(): RuleTest[] {
  return (parse(read('monitoring/prometheus/alerts.test.yaml')) as { tests: RuleTest[] }).tests;
}

export function readDashboard(): Dashboard {
  return JSON.parse(read('monitoring/grafana/tollkeeper.json')) as Dashboard;
}

export function readRunbook(): string {
  return read('docs/runbook.md');
}

/**
 * Labels of each series by name, as in a scrape: those in docs/metrics.md, which is compared with a running
 * installation, and those of every Node process.
 */
export async function knownSeries(): Promise<Map<string, Set<string>>> {
  const series = new Map<string, Set<string>>();
  for (const [, name = '', type = '', labels = ''] of read('docs/metrics.md').matchAll(
    /^\| `(\w+)` *\| (\w+) *\| ([^|]+?) *\|/gm,
  )) {
    const own = ['service', ...[...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label)];
    if (type === 'histogram') {
      for (const suffix of ['_count', '_sum']) series.set(name + suffix, new Set(own));
      series.set(`${name}_bucket`, new Set([...own, 'le']));
    } else series.set(name, new Set(own));
  }
  const registry = new prom.Registry();
  prom.collectDefaultMetrics({ register: registry });
  for (const { name } of await registry.getMetricsAsJSON()) series.set(name, new Set());
  registry.clear();
  return series;
}

/** The labels that Prometheus adds to every scraped series. */
export const LABELS_OF_SCRAPE = ['job', 'instance', 'namespace', 'pod'];
