import { ConfigError } from '@tollkeeper/runtime';
import type { OperatorPriceConfig } from './operator.price.fields.ts';
import { createPriceFile, type OperatorPrices, type PriceFileDeps } from './price.file.ts';
import { createPriceUrl } from './price.url.ts';

type Deps = Pick<PriceFileDeps, 'logger' | 'onRead'> & { config: OperatorPriceConfig };

/** Throws `ConfigError` if both are set. */
export function createOperatorPrices({ config: { PRICES_FILE, PRICES_URL }, ...deps }: Deps): OperatorPrices {
  if (PRICES_FILE !== undefined && PRICES_URL !== undefined) {
    throw new ConfigError([
      { variable: 'PRICES_URL', message: 'is set together with PRICES_FILE; set only one of them' },
    ]);
  }
  if (PRICES_URL !== undefined) return createPriceUrl({ url: PRICES_URL, ...deps });
  return createPriceFile({ file: PRICES_FILE, ...deps });
}
