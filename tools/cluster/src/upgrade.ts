import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Manifest, ROOT } from '@tollkeeper/deployment';
import { SERVICES } from '@tollkeeper/topology';
import { type Cluster, lookUp, NAMES_CACHED_MS } from './checks.ts';
import { command } from './command.ts';
import type { Session } from './session.ts';

const AGENT = 'before-upgrade';
const DAYS = 30;
const EVENTS_A_DAY = 10;
const ALARMS = 6;
const DAY_MS = 24 * 3_600_000;

/**
 * Rolls a filled installation of the last release to this working tree, back, and forward again, service by service in
 * the order of docs/releases.md, with names cached for 30 s.
 */
export async function upgrade({ cluster, manifests, underLoad }: Session, releasedRoot: string): Promise<void> {
  const { report } = cluster;
  const current = await manifests(ROOT, 'local');
  const released = await manifests(releasedRoot, 'released');
  const steps = [
    { name: 'forward', target: current, services: SERVICES },
    { name: 'back', target: released, services: SERVICES.toReversed() },
    { name: 'forward again', target: current, services: SERVICES },
  ];
  await underLoad('upgrade', async () => {
    const { open } = await fill(
      cluster,
      steps.map(({ name }) => name.replace(' ', '-')),
    );
    for (const { name, target, services } of steps) {
      await report.measure(name, 'settings', () => cluster.installation.apply(target.filter(isSetting)));
      for (const service of services) {
        await report.measure(name, service, () => rollTo(cluster, service, target));
      }
      const kept = open.shift();
      if (kept !== undefined) await verify(cluster, name, kept);
    }
  });
}

/** What was left half done before a step: its rule has half of its events, and its reservation is open. */
interface Unfinished {
  type: string;
  rule: string;
  reservation: string;
  /** The calls that are settled after it, with those of the steps before. */
  settled: number;
}

/** A month of events, and for each step a rule that is half full and an open reservation. */
async function fill({ client, receiverUrl, report }: Cluster, names: string[]): Promise<{ open: Unfinished[] }> {
  const open: Unfinished[] = [];
  await report.measure('fill', `${DAYS * EVENTS_A_DAY} calls of ${DAYS} days`, async () => {
    const now = Date.now();
    for (let call = 0; call < DAYS * EVENTS_A_DAY; call += 1) {
      const time = new Date(now - (call % DAYS) * DAY_MS);
      await expectStatus(202, client.report(AGENT, `${AGENT}-${call}`, time));
    }
    await client.waitUntilCounted(AGENT, DAYS * EVENTS_A_DAY);
  });
  await report.measure('fill', 'rules half full, open reservations', async () => {
    const channel = await client.createChannel(receiverUrl);
    for (const name of names) {
      const type = `cluster.${name}`;
      const rule = await client.createRule(channel, type, ALARMS);
      await sendAlarms(client, type, 0);
      const text = await expectStatus(201, client.reserve(AGENT, `open-${name}`));
      const settled = DAYS * EVENTS_A_DAY + open.length + 1;
      open.push({
        settled,
        type,
        rule,
        reservation: (JSON.parse(text) as { reservation: { id: string } }).reservation.id,
      });
    }
  });
  return { open };
}

/** Applies the service's deployment; resolves once its new pods are ready, the old ones gone and cached names old. */
async function rollTo({ installation }: Cluster, service: string, target: Manifest[]): Promise<void> {
  await lookUp(service);
  const own = target.filter(({ kind, metadata }) => kind === 'Deployment' && metadata.name.endsWith(`-${service}`));
  await installation.apply(own);
  // Long enough that this row shows a client that keeps calling the old pods.
  await Promise.all([installation.settled(service), setTimeout(NAMES_CACHED_MS)]);
}

/** All that a roll-out needs before it: what was there and is equal stays as it is. */
function isSetting({ kind }: Manifest): boolean {
  return !['Deployment', 'StatefulSet', 'Job'].includes(kind);
}

/** Finishes what was left half done before the step, and checks what was there before the first one. */
async function verify(
  { client, installation, report }: Cluster,
  step: string,
  { type, rule, reservation, settled }: Unfinished,
): Promise<void> {
  await report.measure(step, 'the rule that was half full fires once', async () => {
    await sendAlarms(client, type, ALARMS / 2);
    await client.waitUntilDelivered(rule);
  });
  await report.measure(step, 'the open reservation is settled', async () => {
    const text = await expectStatus(200, client.settle(reservation));
    const { state } = JSON.parse(text) as { state: string };
    if (state !== 'settled') throw new Error(`The reservation is ${state}`);
  });
  await report.measure(step, 'all calls of the month and it are counted', () =>
    client.waitUntilCounted(AGENT, settled),
  );
  await report.measure(step, 'the audit chain is whole', async () => {
    const [mongodb] = await installation.pods('mongodb');
    const uri = `mongodb://${mongodb?.status.podIP}:27017/?directConnection=true`;
    const env = { ...process.env, MONGODB_URI: uri };
    const chains = await command(process.execPath, [join(ROOT, 'apps/standalone/src/verify.main.ts')], env);
    if (!chains.includes('"ok":true')) throw new Error('There is no audit chain');
  });
}

async function sendAlarms(client: Cluster['client'], type: string, from: number): Promise<void> {
  for (let alarm = from; alarm < from + ALARMS / 2; alarm += 1) {
    await expectStatus(202, client.alarm(type, `${type}-${alarm}`));
  }
}

async function expectStatus(expected: number, answer: ReturnType<Cluster['client']['settle']>): Promise<string> {
  const { status, text } = await answer;
  if (status !== expected) throw new Error(`${status} ${text}`);
  return text;
}
