import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SAMPLE_SECRETS } from '@tollkeeper/deployment';
import { CHECKS } from './checks.ts';
import { createInstallation, NAMESPACE } from './installation.ts';
import { startLoad } from './load.ts';
import { localManifests } from './local.manifests.ts';
import { watchMemory } from './memory.ts';
import { HOST_ADDRESS, startNode } from './node.ts';
import { connect } from './product.client.ts';
import { IMAGE_FILES } from './images.ts';
import { startReceiver } from './receiver.ts';
import { createReport } from './report.ts';
import { say } from './say.ts';

/** Runs in separate namespaces (sandbox.ts): `node.main.ts <home> <check> …`. */
const [home = '', ...names] = process.argv.slice(2);

const directory = join(home, 'node');
const node = await startNode({ directory, images: IMAGE_FILES.map((file) => join(home, file)), onProgress: say });
const receiver = await startReceiver(HOST_ADDRESS);
const installation = createInstallation(node);
say('Installing k8s/overlays/local…');
for (const manifest of await localManifests(receiver, NAMESPACE)) await node.api.apply(manifest);
await installation.settled();
say('Everything is ready.');

const memory = watchMemory(node, installation);
const owner = {
  email: SAMPLE_SECRETS['FIRST_OWNER_EMAIL'] ?? '',
  password: SAMPLE_SECRETS['FIRST_OWNER_PASSWORD'] ?? '',
};
const client = await connect(await installation.gatewayUrl(), owner);
const report = createReport(say);
for (const name of names) {
  const agent = `load-${name}`;
  const load = startLoad(client, agent);
  report.watch(load);
  await CHECKS[name]?.({ installation, client, receiverUrl: receiver.url, report });
  const accepted = await load.stop();
  await report.measure('then', `all ${accepted} accepted events are counted, once`, () =>
    client.waitUntilCounted(agent, accepted),
  );
}
report.memory(await memory.stop());
await writeFile(join(home, 'report.md'), `${report}\n`);
console.log(`\n${report}`);
receiver.stop();
await node.stop();
say(`Logs are in ${directory}.`);
process.exit(report.complete ? 0 : 1);
