import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { ROOT } from '../src/render.ts';
import { istioDefinitions } from '../src/tools.ts';

interface Named {
  name: string;
}

/** What Istio changes in Envoy's settings, and where. */
interface ConfigPatch {
  applyTo: 'NETWORK_FILTER' | 'HTTP_FILTER' | 'HTTP_ROUTE' | 'CLUSTER';
  match: { context: string; listener?: { filterChain: { filter: Named & { subFilter?: Named } } } };
  patch: { operation: string; value: Record<string, unknown> & Named };
}

/** The settings of the Envoy of `examples/envoy-budgets`, which `e2e` runs. */
interface EnvoySettings {
  static_resources: {
    listeners: { filter_chains: { filters: { name: string; typed_config: ConnectionManager }[] }[] }[];
    clusters: Named[];
  };
}
interface ConnectionManager extends Record<string, unknown> {
  route_config: { virtual_hosts: { routes: Record<string, unknown>[] }[] };
  http_filters: Named[];
}

const ROUTER = 'envoy.filters.http.router';
const MANAGER = 'envoy.filters.network.http_connection_manager';

const managerOf = ({ static_resources: { listeners } }: EnvoySettings) => listeners[0]!.filter_chains[0]!.filters[0]!;

/** The same Envoy as it is without Tollkeeper: a route to the model. */
function bare(settings: EnvoySettings): EnvoySettings {
  const plain = structuredClone(settings);
  const { typed_config: config } = managerOf(plain);
  for (const key of ['generate_request_id', 'early_header_mutation_extensions', 'access_log']) delete config[key];
  delete config.route_config.virtual_hosts[0]!.routes[0]!['typed_per_filter_config'];
  config.http_filters = config.http_filters.filter(({ name }) => name === ROUTER);
  plain.static_resources.clusters = plain.static_resources.clusters.filter(({ name }) => name === 'model');
  return plain;
}

/** Does what Istio does with a patch of this kind. */
const APPLY: Record<ConfigPatch['applyTo'], (settings: EnvoySettings, patch: ConfigPatch) => void> = {
  NETWORK_FILTER(settings, { match, patch: { operation, value } }) {
    const manager = managerOf(settings);
    expect([operation, match.listener?.filterChain.filter.name]).toEqual(['MERGE', manager.name]);
    Object.assign(manager.typed_config, value['typed_config']);
  },
  HTTP_FILTER(settings, { match, patch: { operation, value } }) {
    const { http_filters: filters } = managerOf(settings).typed_config;
    const { name, subFilter } = match.listener!.filterChain.filter;
    expect([operation, name]).toEqual(['INSERT_BEFORE', MANAGER]);
    filters.splice(
      filters.findIndex((filter) => filter.name === subFilter?.name),
      0,
      value,
    );
  },
  HTTP_ROUTE(settings, { patch: { operation, value } }) {
    expect(operation).toBe('MERGE');
    Object.assign(managerOf(settings).typed_config.route_config.virtual_hosts[0]!.routes[0]!, value);
  },
  CLUSTER(settings, { patch: { operation, value } }) {
    expect(operation).toBe('ADD');
    settings.static_resources.clusters.push(value);
  },
};

describe('the EnvoyFilter of examples/istio', () => {
  let filter: { spec: { configPatches: ConfigPatch[] } };
  beforeAll(async () => {
    filter = parse(await readFile(join(ROOT, 'examples/istio/envoyfilter.yaml'), 'utf8')) as typeof filter;
  });

  it('is one by the definition of Istio', async () => {
    const definitions = (await istioDefinitions()).split(/^---$/m);
    const { spec } = parse(definitions.find((text) => /^ +kind: EnvoyFilter$/m.test(text))!) as Definition;
    const { schema } = spec.versions.find(({ name }) => name === 'v1alpha3')!;
    const isFilter = new Ajv2020({ strict: false, validateFormats: false }).compile(schema.openAPIV3Schema);
    expect([isFilter(filter), isFilter.errors]).toEqual([true, null]);
    const [first] = filter.spec.configPatches;
    const wrong = { ...filter, spec: { configPatches: [{ ...first, applyTo: 'HTTP_FILTERS' }] } };
    expect(isFilter(wrong)).toBe(false);
  });

  it('makes of an Envoy with a route to a model the one of examples/envoy-budgets', async () => {
    const example = parse(await readFile(join(ROOT, 'examples/envoy-budgets/envoy.yaml'), 'utf8')) as EnvoySettings;
    const settings = bare(example);
    expect(settings).not.toEqual(example);
    for (const patch of filter.spec.configPatches) {
      expect(patch.match.context).toBe('GATEWAY');
      APPLY[patch.applyTo](settings, patch);
    }
    expect(settings).toEqual(example);
  });
});

interface Definition {
  spec: { versions: { name: string; schema: { openAPIV3Schema: object } }[] };
}
