import { describe, expect, it } from '@jest/globals';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { secretSettings } from '@tollkeeper/runtime';
import {
  addressSetting,
  callsOf,
  type Port,
  SERVICES,
  type ServiceName,
  TOPOLOGY,
  usesLog,
} from '@tollkeeper/topology';
import { namesIn, tableOf } from '../src/page.ts';
import { OPTIONAL_SECRETS, ROOT, SAMPLE_SECRETS } from '../src/render.ts';
import { SERVICE_CONFIGS, takes } from '../src/services.ts';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const manifest = (path: string) =>
  JSON.parse(read(path)) as { dependencies: Record<string, string>; nx: { implicitDependencies: string[] } };
const INSTALLATION_SECRETS = Object.keys({ ...SAMPLE_SECRETS, ...OPTIONAL_SECRETS });
const PACKAGES = SERVICES.map((service) => `@tollkeeper/${service}`).sort();

/** The settings of a service that correspond to entries of the table. */
function settingsOfTable(settings: string[]): string[] {
  const named = ['MONGODB_URI', 'KAFKA_BROKERS', 'HTTP_PORT', 'GRPC_PORT', 'OTLP_PORT', ...INSTALLATION_SECRETS];
  const shared = Object.values(TOPOLOGY).flatMap((entry) => entry.settings);
  return settings
    .filter((name) => named.includes(name) || shared.some((each) => each === name) || /_(GRPC|HTTP)$/.test(name))
    .sort();
}

describe('the table of services', () => {
  it('has every app in apps/ but the standalone, and no other', () => {
    const apps = readdirSync(join(ROOT, 'apps')).filter((app) => app !== 'standalone');
    expect(SERVICES.toSorted()).toEqual(apps.sort());
  });

  it.each(SERVICES)('says of %s what its config.ts takes', (service) => {
    const { serves, secrets, settings, mongodb } = TOPOLOGY[service];
    const said = [
      ...serves.map((port) => `${port.toUpperCase()}_PORT`),
      ...callsOf(service).map(addressSetting),
      ...(mongodb ? ['MONGODB_URI'] : []),
      ...(usesLog(service) ? ['KAFKA_BROKERS'] : []),
      ...secrets,
      ...settings,
    ];
    expect(settingsOfTable(Object.keys(SERVICE_CONFIGS[service].shape))).toEqual(said.sort());
  });

  it('gives each service that has a database the one that has its name', () => {
    for (const service of SERVICES.filter((name) => takes(name, 'MONGODB_DATABASE'))) {
      expect(SERVICE_CONFIGS[service].shape['MONGODB_DATABASE']?.parse(undefined)).toBe(`tollkeeper_${service}`);
    }
  });

  it('has the log in the main.ts of those services that use it', () => {
    const withLog = SERVICES.filter((service) =>
      /eventLogConfig|runDataService/.test(read(`apps/${service}/src/main.ts`)),
    );
    expect(withLog).toEqual(SERVICES.filter(usesLog));
  });

  it('is what those projects depend on that run all services, so that Nx builds and tests them after a change', () => {
    expect(manifest('tools/fleet/package.json').nx.implicitDependencies.toSorted()).toEqual(PACKAGES);
    const { dependencies } = manifest('apps/standalone/package.json');
    expect(PACKAGES.filter((name) => !(name in dependencies))).toEqual([]);
  });
});

describe('the documentation', () => {
  const architecture = read('docs/architecture.md');
  const deployment = read('docs/deployment.md');

  it('has a row for each service, and a README beside its code', () => {
    for (const service of SERVICES) expect(architecture).toContain(`[${service}](../apps/${service})`);
    const readmes = globSync('apps/*/README.md', { cwd: ROOT }).map((path) => path.split('/')[1]);
    expect(SERVICES.filter((service) => !readmes.includes(service))).toEqual([]);
  });

  it('draws the calls and the topics of the table, and no others', () => {
    const calls = SERVICES.flatMap((service) => callsOf(service)).map(({ from, to, port }) => `${from} ${port} ${to}`);
    const topics = SERVICES.flatMap((service) => [
      ...TOPOLOGY[service].writes.map((topic) => `${service} ${topic} log`),
      ...(TOPOLOGY[service].reads.length > 0 ? [`log ${service}`] : []),
    ]);
    expect(arrowsOf(architecture).sort()).toEqual([...calls, ...topics].sort());
  });

  it('names the topics and the groups of Kafka that the services need rights on, and no others', () => {
    const [topics = [], groups = []] = tableOf(deployment, 'They need these rights')
      .filter(([where]) => where === 'Kafka')
      .map(([, rights = '']) => namesIn(rights));
    const used = Object.values(TOPOLOGY).flatMap(({ reads, writes }) => [...reads, ...writes]);
    expect(topics).toEqual(['.dead', ...new Set(used)].sort());
    const readers = SERVICES.filter((service) => TOPOLOGY[service].reads.length > 0);
    expect(groups).toEqual(readers.map((service) => `${consumerGroupOf(service)}.*`).sort());
  });

  it('says of every secret who reads it, and of no other', () => {
    const readers = new Map(
      tableOf(deployment, '## Secrets').flatMap(([keys = '', readBy = '']) =>
        namesIn(keys).map((key) => [
          key,
          READERS[readBy] ?? SERVICES.filter((service) => readBy.split(', ').includes(service)),
        ]),
      ),
    );
    const secrets = [...INSTALLATION_SECRETS, 'MONGODB_URI', 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'];
    expect([...readers.keys()].sort()).toEqual(secrets.sort());
    for (const [key, services] of readers) {
      expect([key, services]).toEqual([key, SERVICES.filter((service) => takes(service, key))]);
    }
  });

  it('lists every setting of a service that may come from a file, and no other', () => {
    const [, list = ''] = /This\s+works\s+for (.*?); on the standalone/s.exec(deployment) ?? [];
    const secrets = SERVICES.flatMap((service) => secretSettings(SERVICE_CONFIGS[service]));
    expect(namesIn(list)).toEqual([...new Set(secrets)].sort());
  });

  it('builds the image of every service', () => {
    const [, apps = ''] = /for app in ([a-z ]+); do/.exec(deployment) ?? [];
    expect(apps.split(' ').sort()).toEqual(SERVICES.toSorted());
  });
});

/** The names in the table of secrets that stand for several services. */
const READERS: Record<string, ServiceName[]> = {
  'all but console': SERVICES.filter((service) => service !== 'console'),
  'those with a database': SERVICES.filter((service) => TOPOLOGY[service].mongodb),
  'those that use the log': SERVICES.filter(usesLog),
};

/** The consumer group of a service. */
function consumerGroupOf(service: ServiceName): string {
  const sources = globSync(`apps/${service}/src/consumers/*.ts`, { cwd: ROOT }).map(read).join('\n');
  return /^export const CONSUMER_GROUP = '(.+)';$/m.exec(sources)?.[1] ?? '';
}

/** The arrows between services, and between them and the log, in the diagram of docs/architecture.md. */
function arrowsOf(page: string): string[] {
  const [, picture = ''] = /```mermaid\n(.*?)```/s.exec(page) ?? [];
  const names = (text: string) => text.split('&').map((name) => name.trim().replace('log[(event log)]', 'log'));
  return picture.split('\n').flatMap((line) => {
    const [, from = '', back, label, to = ''] =
      /^ *(.+?) (<?)(?:--|-\.|==)(?: ([\w.]+) (?:--|\.-|==))?> (.+)$/.exec(line) ?? [];
    const kind: Record<string, Port> = { HTTP: 'http', gRPC: 'grpc' };
    const between = [from, to].flatMap(names);
    if (between.some((name) => name !== 'log' && !SERVICES.some((service) => service === name))) return [];
    return names(from).flatMap((one) =>
      names(to).flatMap((other) => {
        const words = [one, label === undefined ? undefined : (kind[label] ?? label), other];
        const arrow = words.filter((word) => word !== undefined).join(' ');
        return back === '<' ? [arrow, words.toReversed().join(' ')] : [arrow];
      }),
    );
  });
}
