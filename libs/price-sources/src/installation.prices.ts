import { bundledPrices } from '@tollkeeper/prices';
import { ConfigError, type Metrics } from '@tollkeeper/runtime';
import type { OperatorPriceConfig } from './operator.price.fields.ts';
import { createPriceFile, type OperatorPrices, type PriceFileDeps } from './price.file.ts';
import { createPriceUrl } from './price.url.ts';

type Deps = Pick<PriceFileDeps, 'logger' | 'onRead'> & { config: OperatorPriceConfig };

/** The prices for all workspaces: those of the operator's list, then those of the release. Throws `ConfigError`. */
export function createInstallationPrices(deps: Deps): OperatorPrices {
  const list = createOperatorPrices(deps);
  return { ...list, price: (call) => list.price(call) ?? bundledPrices().price(call) };
}

/** Throws `ConfigError` if both are set. */
function createOperatorPrices({ config: { PRICES_FILE, PRICES_URL }, ...deps }: Deps): OperatorPrices {
  if (PRICES_FILE !== undefined && PRICES_URL !== undefined) {
    throw new ConfigError([
      { variable: 'PRICES_URL', message: 'is set together with PRICES_FILE; set only one of them' },
    ]);
  }
  if (PRICES_URL !== undefined) return createPriceUrl({ url: PRICES_URL, ...deps });
  return createPriceFile({ file: PRICES_FILE, ...deps });
}

/** Shows whether the operator's list could be read: pass it as `onRead`. The metric begins with the service's name. */
export function createPriceListGauge(service: string, metrics: Metrics): (isInForce: boolean) => void {
  const gauge = metrics.gauge({
    name: `${service}_price_file_in_force`,
    help: '0 if PRICES_FILE or PRICES_URL cannot be read as it is now; else 1',
  });
  gauge.set(1);
  return (isInForce) => gauge.set(Number(isInForce));
}
