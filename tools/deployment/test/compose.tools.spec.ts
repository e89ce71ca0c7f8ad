import { beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { STOP_TIMEOUT_MS } from '@tollkeeper/runtime';
import { addressSetting, callsOf, PORTS, SERVICES, TOPOLOGY, usesLog } from '@tollkeeper/topology';
import { ofKind } from '../src/manifest.ts';
import {
  type ComposeService,
  OPTIONAL_SECRETS,
  renderCompose,
  renderOverlay,
  ROOT,
  SAMPLE_SECRETS,
} from '../src/render.ts';
import { readSettings, takes } from '../src/services.ts';

let compose: Record<string, ComposeService>;

beforeAll(async () => {
  compose = await renderCompose(SAMPLE_SECRETS);
});

function service(name: string): ComposeService {
  const found = compose[name];
  if (found === undefined) throw new Error(`docker-compose.yml has no ${name}`);
  return found;
}

describe('docker-compose.yml', () => {
  it('has every service, each with an image of its own', () => {
    expect(Object.keys(compose).sort()).toEqual([...SERVICES, 'kafka', 'mongodb'].sort());
    for (const name of SERVICES) {
      expect(service(name)).toMatchObject({ image: `tollkeeper/${name}:local`, build: { args: { APP: name } } });
    }
  });

  it('does not start without its secrets, and says where they come from', async () => {
    for (const name of Object.keys(SAMPLE_SECRETS)) {
      const others = Object.fromEntries(Object.entries(SAMPLE_SECRETS).filter(([other]) => other !== name));
      await expect(renderCompose(others)).rejects.toThrow(/^\w+ is not set\. Make \.env as docs\/deployment\.md says$/);
    }
  });

  it('sets what each service requires, to values that it takes, and nothing that it does not know', () => {
    for (const name of SERVICES) {
      const environment = service(name).environment ?? {};
      readSettings(name, environment);
      expect({ name, unknown: Object.keys(environment).filter((variable) => !takes(name, variable)) }).toEqual({
        name,
        unknown: [],
      });
    }
  });

  it('gives each service the addresses of those that it calls, and no others', () => {
    for (const name of SERVICES) {
      const addresses = Object.entries(service(name).environment ?? {}).filter(([setting]) =>
        /_(GRPC|HTTP)$/.test(setting),
      );
      const calls = callsOf(name).map(({ to, port }) => {
        const address = `${to}:${PORTS[port]}`;
        return [addressSetting({ to, port }), port === 'http' ? `http://${address}` : address];
      });
      expect({ name, calls: Object.fromEntries(addresses) }).toEqual({ name, calls: Object.fromEntries(calls) });
    }
  });

  it('gives each service the secrets, MongoDB and the log that the table has for it, and no others', () => {
    for (const name of SERVICES) {
      const environment = service(name).environment ?? {};
      const { secrets, mongodb } = TOPOLOGY[name];
      const given = Object.keys({ ...SAMPLE_SECRETS, ...OPTIONAL_SECRETS }).filter((secret) => secret in environment);
      expect({ name, given }).toEqual({ name, given: secrets.toSorted() });
      const stores = { mongodb: 'MONGODB_URI' in environment, log: 'KAFKA_BROKERS' in environment };
      expect({ name, ...stores }).toEqual({ name, mongodb, log: usesLog(name) });
    }
  });

  it('starts a service once what it stores in is healthy, and the gateway once everything is', () => {
    const healthy = { condition: 'service_healthy' };
    for (const name of SERVICES.filter((other) => other !== 'gateway')) {
      const needs = [...(TOPOLOGY[name].mongodb ? ['mongodb'] : []), ...(usesLog(name) ? ['kafka'] : [])];
      expect([name, Object.keys(service(name).depends_on ?? {}).sort()]).toEqual([name, needs.sort()]);
    }
    expect(Object.keys(service('gateway').depends_on ?? {}).sort()).toEqual(
      SERVICES.filter((name) => name !== 'gateway').sort(),
    );
    for (const { depends_on: needs = {} } of Object.values(compose)) {
      for (const need of Object.values(needs)) expect(need).toMatchObject(healthy);
    }
  });

  it('asks the operations port of each service for its health, with node', () => {
    for (const name of SERVICES) {
      const config = readSettings(name, service(name).environment ?? {});
      const [kind, program, , script] = service(name).healthcheck.test;
      expect([kind, program]).toEqual(['CMD', 'node']);
      expect(script).toContain(`http://127.0.0.1:${String(config['OPS_PORT'])}/readyz`);
    }
  });

  it('asks for the health of nothing in a way that older engines do not know, or that starts a JVM', () => {
    for (const [name, { healthcheck }] of Object.entries(compose)) {
      expect([name, Object.keys(healthcheck).includes('start_interval')]).toEqual([name, false]);
    }
    expect(service('kafka').healthcheck.test.join(' ')).toContain('/dev/tcp/127.0.0.1/9092');
  });

  it('publishes what is open to everybody, to this machine, the gateway at PUBLIC_URL', () => {
    const published = Object.entries(compose).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => ({ name, ...port })),
    );
    const { port } = new URL(service('gateway').environment?.['PUBLIC_URL'] ?? '');
    const open = SERVICES.flatMap((name) => TOPOLOGY[name].open.map((server) => ({ name, target: PORTS[server] })));
    const byName = (one: { name: string }, other: { name: string }) => one.name.localeCompare(other.name);
    expect(published.map(({ name, target }) => ({ name, target })).sort(byName)).toEqual(open.sort(byName));
    for (const { host_ip: address } of published) expect(address).toBe('127.0.0.1');
    expect(published).toContainEqual(expect.objectContaining({ name: 'gateway', published: port }));
  });

  it('runs each service without capabilities, on a read-only file system, with the time that it needs to drain', () => {
    for (const name of SERVICES) {
      expect(service(name)).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        stop_grace_period: expect.stringMatching(/^\d+s$/),
      });
      expect(parseInt(service(name).stop_grace_period ?? '', 10) * 1000).toBeGreaterThan(STOP_TIMEOUT_MS);
    }
  });

  it('runs the Apache Kafka that the suites run on', async () => {
    const pom = await readFile(join(ROOT, 'libs/embedded-kafka/pom.xml'), 'utf8');
    const [, version] = /<artifactId>kafka_[\d.]+<\/artifactId>\s*<version>([^<]+)</.exec(pom) ?? [];
    expect(service('kafka').image).toBe(`apache/kafka:${version}`);
  });

  it('runs the images that the local overlay runs, the same MongoDB and Kafka included', async () => {
    const { manifests } = await renderOverlay('local');
    const workloads = [...ofKind(manifests, 'Deployment'), ...ofKind(manifests, 'StatefulSet')];
    const images = workloads.flatMap(({ spec }) => spec.template.spec.containers.map(({ image }) => image));
    expect(
      Object.values(compose)
        .map(({ image }) => image)
        .sort(),
    ).toEqual(images.sort());
  });
});
