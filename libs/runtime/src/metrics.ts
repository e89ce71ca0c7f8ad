import * as prom from 'prom-client';
import type { Logger } from './logger.ts';

/** Metrics of one service, in a registry of their own, because several services can run in one process. */
export interface Metrics {
  readonly registry: prom.Registry;
  counter<L extends string = never>(options: MetricOptions<L>): prom.Counter<L>;
  gauge<L extends string = never>(options: GaugeOptions<L>): prom.Gauge<L>;
  histogram<L extends string = never>(options: HistogramOptions<L>): prom.Histogram<L>;
}

export interface MetricOptions<L extends string> {
  /** Snake case with the unit last, counters ending in `_total`. */
  name: string;
  help: string;
  labelNames?: readonly L[];
}

export interface GaugeOptions<L extends string> extends MetricOptions<L> {
  /** Sets the gauge whenever it is read, for values that are cheaper to look up than to track. */
  collect?: (this: prom.Gauge<L>) => void | Promise<void>;
}

export interface HistogramOptions<L extends string> extends MetricOptions<L> {
  /** Upper bounds, in the metric's unit. */
  buckets?: number[];
}

/**
 * Metrics of a service; all of them have the label `service`. Initially there are none, except `tollkeeper_build_info`
 * if `version` is given.
 */
export function createMetrics(service: string, version?: string): Metrics {
  const registry = new prom.Registry();
  registry.setDefaultLabels({ service });
  const registers = [registry];
  if (version !== undefined) {
    const help = 'Always 1: which version of the service runs here';
    new prom.Gauge({ name: 'tollkeeper_build_info', help, labelNames: ['version'], registers }).set({ version }, 1);
  }
  return {
    registry,
    counter: (options) => new prom.Counter({ ...options, registers }),
    gauge: (options) => new prom.Gauge({ ...options, registers }),
    histogram: (options) => new prom.Histogram({ ...options, registers }),
  };
}

export interface LookedUpGaugeOptions extends MetricOptions<never> {
  /** Returns the value. Called whenever the metrics are read. */
  lookUp: () => Promise<number>;
  logger: Logger;
}

/**
 * A gauge whose value is elsewhere, such as in a database. If the look-up fails, the gauge has no value and a warning
 * is logged: an old value would mislead, and all other metrics are especially needed then.
 */
export function lookedUpGauge(metrics: Metrics, { lookUp, logger, ...options }: LookedUpGaugeOptions): void {
  metrics.gauge({
    ...options,
    async collect() {
      try {
        this.set(await lookUp());
      } catch (err) {
        this.remove();
        logger.warn({ err, metric: options.name }, 'a metric could not be read; omitting it from this scrape');
      }
    },
  });
}

/**
 * The text exposition of several registries together. A name that several services use becomes one family whose series
 * differ by the label `service`, because the format forbids repeated families. All look-ups run concurrently, so a
 * server that does not answer delays them only once.
 */
export async function renderMetrics(registries: prom.Registry[]): Promise<string> {
  const rendered = registries.flatMap((registry) =>
    registry
      .getMetricsAsArray()
      .map(async ({ name }) => ({ name, text: await registry.getSingleMetricAsString(name) })),
  );
  const families = new Map<string, string[]>();
  for (const { name, text } of await Promise.all(rendered)) {
    const lines = text.split('\n');
    const family = families.get(name);
    if (family === undefined) families.set(name, lines);
    else family.push(...lines.filter((line) => !line.startsWith('#')));
  }
  return [...families.values()].map((lines) => `${lines.join('\n')}\n`).join('\n');
}
