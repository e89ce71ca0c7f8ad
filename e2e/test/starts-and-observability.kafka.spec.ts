import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type EmbeddedMongo, startEmbeddedMongo } from '@tollkeeper/embedded-mongo';
import type { Replica } from '@tollkeeper/fleet';
import { type KafkaBroker, startKafka } from '@tollkeeper/embedded-kafka';
import { eventually } from '@tollkeeper/testing';
import { SERVICES, TOPOLOGY, usesLog } from '@tollkeeper/topology';
import { type ApiClient, createClient, logIn } from '../src/api.client.ts';
import { spendSettled } from '../src/events.ts';
import { type FleetDeployment, deployFleet } from '../src/fleet.stage.ts';
import { describeObservability, type Observers, startObservers } from '../src/suites/observability.suite.ts';
import { newDataDirectory, removeDataDirectory } from '@tollkeeper/testing/standalone-process';
import { newKey, newWorkspace, postEvents } from '../src/workspace.ts';

describe('a fleet that is observed from its first start', () => {
  let observers: Observers;
  let dataDirectory: string;
  let mongo: EmbeddedMongo;
  let kafka: KafkaBroker;
  let starting: Promise<FleetDeployment> | undefined;
  const lines: string[] = [];

  const takeAwayStorage = () => Promise.all([kafka.kill(), ...mongo.members.map((member) => member.kill())]);
  const bringStorageBack = () => Promise.all([kafka.restart(), ...mongo.members.map((member) => member.restart())]);

  /** The fleet of this file, started by the first test that asks for it. */
  function deploy(): Promise<FleetDeployment> {
    starting ??= deployFleet({
      dataDirectory,
      mongodbUri: mongo.uri,
      kafkaBrokers: kafka.brokers,
      allowCidrs: '127.0.0.0/8',
      env: observers.env,
      onLine: (replica, line) => lines.push(`${replica} ${line}`),
    });
    return starting;
  }

  async function expectToWork(deployment: FleetDeployment): Promise<void> {
    const owner = await logIn(deployment, deployment.owner);
    const workspace = await newWorkspace(owner);
    const events = [spendSettled({ amountMicros: 5 }), spendSettled({ amountMicros: 6 })];
    expect((await postEvents(deployment, workspace.apiKey, events)).status).toBe(202);
    await eventually(async () => {
      const path = workspace.path('/dashboard/spend?range=1m');
      expect(await owner.expect({ path })).toMatchObject({ metrics: { total_micros: 11 } });
    });
  }

  beforeAll(async () => {
    [dataDirectory, observers] = await Promise.all([newDataDirectory(), startObservers()]);
    mongo = await startEmbeddedMongo({ dataDirectory: join(dataDirectory, 'own-mongo') });
    kafka = await startKafka({ dataDirectory: join(dataDirectory, 'own-kafka') });
  });
  afterAll(async () => {
    await (await starting?.catch(() => undefined))?.fleet.stop();
    await kafka.stop();
    await mongo.stop();
    await observers.stop();
    await removeDataDirectory(dataDirectory);
  });

  describe('the order of a start does not matter', () => {
    it('at the first start: services without their storage stay, say why they are not ready, and get ready automatically', async () => {
      await takeAwayStorage();
      const first = deploy();
      first.catch(() => undefined);
      const waiting = (service: string, text: string) =>
        eventually(() => expect(lines.find((line) => line.startsWith(service) && line.includes(text))).toBeDefined());
      for (const service of SERVICES) {
        if (usesLog(service)) await waiting(service, 'Kafka does not answer yet');
        else if (TOPOLOGY[service].mongodb) await waiting(service, 'MONGODB_URI');
      }
      await bringStorageBack();
      await expectToWork(await first);
    });

    it('at a later one: they come up in reverse order, and what they store in comes last', async () => {
      const deployment = await deploy();
      await deployment.end('SIGKILL');
      await takeAwayStorage();
      const launched: Replica[] = [];
      for (const service of SERVICES.toReversed()) {
        const [replica] = deployment.fleet.services[service] as [Replica];
        replica.launch();
        await eventually(async () => expect((await fetch(`${replica.opsUrl}/healthz`)).status).toBe(200));
        launched.push(replica);
      }
      // The gateway stores nothing, and itself reports that the services behind it are down.
      const storing = launched.filter(({ service }) => TOPOLOGY[service].mongodb || usesLog(service));
      for (const { name, opsUrl } of storing) {
        const { status } = await fetch(`${opsUrl}/readyz`);
        expect({ name, status }).toEqual({ name, status: 503 });
      }
      const me = createClient(deployment, `gw_session=${'A'.repeat(43)}`).call({ path: '/api/v1/auth/me' });
      const { status, headers } = await me;
      expect({ status, retryAfter: Number(headers['retry-after']) > 0 }).toEqual({ status: 503, retryAfter: true });
      await bringStorageBack();
      await Promise.all(launched.map((replica) => replica.ready()));
      await expectToWork(deployment);
    });

    it('without the log, people log in, change things and read what was counted; the rest comes with the log', async () => {
      const deployment = await deploy();
      const { path, apiKey, slug } = await newWorkspace(await logIn(deployment, deployment.owner));
      const spend = { path: path('/dashboard/spend?range=1m') };
      expect((await postEvents(deployment, apiKey, [spendSettled({ amountMicros: 5 })])).status).toBe(202);
      const reads = async (owner: ApiClient, micros: number) => {
        expect(await owner.expect(spend)).toMatchObject({ metrics: { total_micros: micros } });
        await owner.expect({ path: path('/alerts/rules') });
      };
      const counted = async (micros: number) => reads(await logIn(deployment, deployment.owner), micros);
      // Logs in once, because this would exceed the log-ins that an address may make.
      const soonCounted = async (micros: number) => {
        const owner = await logIn(deployment, deployment.owner);
        await eventually(() => reads(owner, micros));
      };
      await soonCounted(5);

      await deployment.end('SIGKILL');
      await kafka.kill();
      const replicas = SERVICES.flatMap((service) => deployment.fleet.services[service]);
      for (const replica of replicas) replica.launch();
      const [ingest] = deployment.fleet.services.ingest;
      const others = replicas.filter((replica) => replica !== ingest);
      await Promise.all(others.map((replica) => replica.ready()));
      await counted(5);
      expect((await fetch(`${ingest?.opsUrl}/readyz`)).status).toBe(503);
      const identity = await fetch(`${deployment.fleet.services.identity[0]?.opsUrl}/readyz`);
      expect(await identity.json()).toMatchObject({ status: 'ready', impaired: expect.stringContaining('event-log') });

      await kafka.restart();
      await ingest?.ready();
      expect((await postEvents(deployment, apiKey, [spendSettled({ amountMicros: 6 })])).status).toBe(202);
      await soonCounted(11);

      // Kafka fails while the services are up: neither reads nor changes are affected.
      await kafka.kill();
      await eventually(async () => expect((await fetch(`${ingest?.opsUrl}/readyz`)).status).toBe(503));
      await counted(11);
      const owner = await logIn(deployment, deployment.owner);
      const { id } = await newKey(owner, slug, 'read_only');
      await Promise.all(others.map((replica) => replica.ready()));
      const records = () => owner.expect<{ items: unknown[] }>({ path: path(`/audit?target_id=${id}`) });
      expect((await records()).items).toEqual([]);
      await kafka.restart();
      await eventually(async () => expect((await records()).items).toHaveLength(1));
    });
  });

  describe('after all of these starts, an event', () => {
    describeObservability(async () => {
      const deployment = await deploy();
      const replicas = SERVICES.flatMap((service) => deployment.fleet.services[service]);
      return { ...deployment, observers, metricsUrls: replicas.map(({ opsUrl }) => `${opsUrl}/metrics`) };
    });
  });
});
