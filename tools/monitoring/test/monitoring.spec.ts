import { beforeAll, describe, expect, it } from '@jest/globals';
import { SERVICES } from '@tollkeeper/topology';
import { knownSeries, LABELS_OF_SCRAPE, readDashboard, readRules, readRuleTests, readRunbook } from '../src/files.ts';
import { readQuery } from '../src/promql.ts';

const rules = readRules();
const dashboard = readDashboard();
const runbook = readRunbook();
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const headings = [...runbook.matchAll(/^### (\w+)$/gm)].map(([, heading]) => heading);

let series: Map<string, Set<string>>;

beforeAll(async () => {
  series = await knownSeries();
});

/** The names in an expression that no scrape has. */
function unknownIn(expression: string): string[] {
  const { selectors, groupings } = readQuery(expression);
  const labelsOf = selectors.map(({ metric }) => series.get(metric));
  const unknown = selectors.flatMap(({ metric, labels }) => {
    const known = series.get(metric);
    if (known === undefined) return [metric];
    return Object.keys(labels)
      .filter((label) => !known.has(label) && !LABELS_OF_SCRAPE.includes(label))
      .map((label) => `${metric}{${label}}`);
  });
  const joined = groupings.filter(
    (label) => !LABELS_OF_SCRAPE.includes(label) && !labelsOf.some((labels) => labels?.has(label)),
  );
  return [...unknown, ...joined];
}

describe('the check of metric names', () => {
  it.each([
    ['event_log_lag_record', ['event_log_lag_record']],
    ['sum by (tenant) (event_log_lag_records{topics="x"})', ['event_log_lag_records{topics}', 'tenant']],
    ['rate(http_server_request_duration_seconds{status="500"}[5m])', ['http_server_request_duration_seconds']],
    ['rate(http_server_request_duration_seconds_count{status="500"}[5m])', []],
    ['process_start_time_seconds{instance="x"}', []],
  ])('finds in %s: %j', (expression, unknown) => {
    expect(unknownIn(expression)).toEqual(unknown);
  });
});

describe('the alert rules', () => {
  it.each(rules)('$alert asks only for metrics and labels that there are', ({ expr }) => {
    expect(unknownIn(expr)).toEqual([]);
  });

  it.each(rules)('$alert says how urgent it is and what is wrong, and leads to its entry in the runbook', (rule) => {
    expect(['page', 'ticket']).toContain(rule.labels.severity);
    expect(rule.annotations.summary).not.toBe('');
    expect(rule.annotations.runbook_url).toBe(`docs/runbook.md#${rule.alert.toLowerCase()}`);
    expect(headings).toContain(rule.alert);
  });

  it('are all that the runbook has entries for, each with three points and a command', () => {
    const named = headings.filter((heading) => heading!.startsWith('Tollkeeper'));
    expect(named.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
    for (const alert of named) {
      const entry = runbook.split(`### ${alert}\n`)[1]!.split(/^##/m)[0]!;
      const points = [...entry.matchAll(/^- \*\*(.+?):\*\* /gm)].map(([, point]) => point);
      expect({ alert, points }).toEqual({ alert, points: ['Meaning', 'Users notice', 'Do'] });
      expect({ alert, commands: entry.match(/^```sh$/gm) ?? [] }).toEqual({ alert, commands: ['```sh'] });
    }
  });

  it('are each seen to fire, and to stay silent on a healthy fleet', () => {
    const outcomes = readRuleTests().flatMap((test) => test.alert_rule_test);
    for (const { alert } of rules) {
      const expected = outcomes
        .filter(({ alertname }) => alertname === alert)
        .map(({ exp_alerts: alerts }) => alerts.length);
      expect({ alert, fires: expected.some((count) => count > 0), silent: expected.includes(0) }).toEqual({
        alert,
        fires: true,
        silent: true,
      });
    }
  });
});

describe('TollkeeperServiceAbsent', () => {
  it('misses every service of the table, and no other', () => {
    const { expr = '' } = rules.find(({ alert }) => alert === 'TollkeeperServiceAbsent') ?? {};
    const missed = [...expr.matchAll(/absent\(tollkeeper_build_info\{service="(\w+)"\}\)/g)].map(([, name]) => name);
    expect(missed.toSorted()).toEqual(SERVICES.toSorted());
  });
});

describe('the dashboard', () => {
  it.each(panels)('$title asks only for metrics and labels that there are', ({ targets = [] }) => {
    expect(targets.length).toBeGreaterThan(0);
    for (const { expr } of targets) {
      expect(unknownIn(expr.replaceAll('$__rate_interval', '5m').replaceAll('$service', '.*'))).toEqual([]);
    }
  });

  it('has panels that do not lie upon each other', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});
