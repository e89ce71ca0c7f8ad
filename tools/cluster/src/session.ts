import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Manifest, SAMPLE_SECRETS } from '@tollkeeper/deployment';
import type { Cluster } from './checks.ts';
import { createInstallation, NAMESPACE } from './installation.ts';
import type { ImageTag } from './images.ts';
import { startLoad } from './load.ts';
import { localManifests } from './local.manifests.ts';
import { watchMemory } from './memory.ts';
import { HOST_ADDRESS, startNode } from './node.ts';
import { connect } from './product.client.ts';
import { startReceiver } from './receiver.ts';
import { createReport } from './report.ts';
import { say } from './say.ts';

export interface Session {
  cluster: Cluster;
  /** The manifests of `root` with the images of `tag`, for this cluster. */
  manifests(root: string, tag: ImageTag): Promise<Manifest[]>;
  /** Acts under a load of its own, and checks that all that it settled is counted. */
  underLoad(name: string, act: () => Promise<void>): Promise<void>;
}

/**
 * Starts a node with `images`, files in `home`, and installs `k8s/overlays/local` of `root` on it with the images of
 * `tag`. Then runs `act`, prints the report and writes it to `<home>/report.md`. Resolves to whether all succeeded.
 */
export async function runOnNode(
  { home, images, root, tag }: { home: string; images: readonly string[]; root: string; tag: ImageTag },
  act: (session: Session) => Promise<void>,
): Promise<boolean> {
  const directory = join(home, 'node');
  const node = await startNode({ directory, images: images.map((file) => join(home, file)), onProgress: say });
  const receiver = await startReceiver(HOST_ADDRESS);
  const installation = createInstallation(node);
  const manifests = (from: string, of: ImageTag) =>
    localManifests({ root: from, tag: of, receiver, namespace: NAMESPACE });
  say('Installing k8s/overlays/local…');
  await installation.apply(await manifests(root, tag));
  await installation.settled();
  say('Everything is ready.');

  const memory = watchMemory(node, installation);
  const { FIRST_OWNER_EMAIL: email = '', FIRST_OWNER_PASSWORD: password = '' } = SAMPLE_SECRETS;
  const client = await connect(await installation.gatewayUrl(), { email, password });
  const report = createReport(say);
  await act({
    cluster: { installation, client, receiverUrl: receiver.url, report },
    manifests,
    async underLoad(name, work) {
      const agent = `load-${name}`;
      const load = startLoad(client, agent);
      report.watch(load);
      await work();
      const accepted = await load.stop();
      await report.measure('then', `all ${accepted} accepted calls are counted, once`, () =>
        client.waitUntilCounted(agent, accepted),
      );
    },
  });
  report.memory(await memory.stop());
  await writeFile(join(home, 'report.md'), `${report}\n`);
  console.log(`\n${report}`);
  receiver.stop();
  await node.stop();
  say(`Logs are in ${directory}.`);
  return report.complete;
}
