import { Resolver } from 'node:dns/promises';
import { setTimeout } from 'node:timers/promises';
import { appOf, type Installation } from './installation.ts';
import { NAME_SERVER } from './node.objects.ts';
import { connect, type ProductClient } from './product.client.ts';
import type { Report } from './report.ts';

const WALK_EVENTS = 3;
const REPLICAS = 3;
export const NAMES_CACHED_MS = 30_000;
/** The servers that services need, one pod each. */
const STATEFUL = ['kafka', 'mongodb'];

export interface Cluster {
  installation: Installation;
  client: ProductClient;
  receiverUrl: string;
  report: Report;
}

/** The checks by name, in the order of a whole run. */
export const CHECKS: Record<string, (cluster: Cluster) => Promise<void>> = {
  walk,
  kill,
  evict,
  rollout: (cluster) => rollOut(cluster, 1),
  'rollout-3': (cluster) => rollOut(cluster, REPLICAS),
};

/** The README's first steps: log in, report events, see them counted, and get an alert. */
async function walk({ installation, client, receiverUrl, report }: Cluster): Promise<void> {
  await report.measure('walk', 'log in, report, count', async () => {
    await connect(await installation.gatewayUrl(), client.owner);
    for (let event = 0; event < WALK_EVENTS; event += 1) {
      const { status, text } = await client.report('walk', `walk-${event}`);
      if (status !== 202) throw new Error(`POST an event: ${status} ${text}`);
    }
    await client.waitUntilCounted('walk', WALK_EVENTS);
  });
  await report.measure('walk', 'alert delivered', async () => {
    const rule = await client.createRule(await client.createChannel(receiverUrl), 'cluster.alarm', 1);
    const { status, text } = await client.alarm('cluster.alarm', rule);
    if (status !== 202) throw new Error(`POST an event: ${status} ${text}`);
    await client.waitUntilDelivered(rule);
  });
}

/** SIGKILL to the processes of each pod, one pod after the other. */
async function kill({ installation, report }: Cluster): Promise<void> {
  for (const pod of await installation.pods()) {
    await report.measure('kill -9', appOf(pod), () => installation.kill(pod));
  }
}

/** Like a drain of the node: all services at once, then the servers that they need. */
async function evict({ installation, report }: Cluster): Promise<void> {
  const pods = await installation.pods();
  const services = pods.filter((pod) => !STATEFUL.includes(appOf(pod)));
  await report.measure('eviction', 'all services at once', async () => {
    await Promise.all(services.map((pod) => installation.evict(pod)));
  });
  for (const pod of pods.filter((candidate) => !services.includes(candidate))) {
    await report.measure('eviction', appOf(pod), () => installation.evict(pod));
  }
}

/** Restarts every service in turn, right after the name server has cached the addresses of its pods. */
async function rollOut({ installation, report }: Cluster, replicas: number): Promise<void> {
  await installation.scale(replicas);
  const services = [...new Set((await installation.pods()).map(appOf))].filter((app) => !STATEFUL.includes(app));
  for (const service of services) {
    await report.measure(`roll-out, ${replicas} replica${replicas > 1 ? 's' : ''}`, service, async () => {
      await lookUp(service);
      // Long enough that this row shows a client that keeps calling the old pods.
      await Promise.all([installation.restart(service), setTimeout(NAMES_CACHED_MS)]);
    });
  }
}

/** Lets the name server cache the addresses of a service. */
export async function lookUp(service: string): Promise<void> {
  const resolver = new Resolver();
  resolver.setServers([NAME_SERVER]);
  // Some services have no such name.
  await resolver.resolve4(`tollkeeper-grpc-${service}.tollkeeper.svc.cluster.local`).catch(() => []);
}
