import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, SAMPLE_SECRETS } from '@tollkeeper/deployment';
import { SERVICES } from '@tollkeeper/topology';
import { makeBaseImages, NODE_IMAGES } from './base.images.ts';
import { type Engine, startEngine } from './engine.ts';
import { findRelease } from './released.ts';
import { say } from './say.ts';

/** The files that a node needs, in the folder passed to `buildImages`. */
export const IMAGE_FILES = ['base-images.tar', 'service-images.tar'];
/** The images of the last release, for `upgrade`. */
export const RELEASED_IMAGES = 'released-images.tar';

/** The tags of the images: of this working tree, and of the last release. */
export type ImageTag = 'local' | 'released';

/**
 * Builds the image of every service as docs/deployment.md says, and writes them and the images that they need to
 * `IMAGE_FILES`; with `released`, also those of the last release to `RELEASED_IMAGES`.
 */
export async function buildImages(home: string, { released }: { released: boolean }): Promise<void> {
  const engine = await startEngine({ directory: home, network: false, onProgress: say });
  try {
    await makeBaseImages({ engine, directory: home, onProgress: say });
    await engine.saveImages([...NODE_IMAGES], join(home, 'base-images.tar'));
    await buildServices({ engine, home, root: ROOT, tag: 'local', file: 'service-images.tar' });
    if (!released) return;
    const { commit, root } = await findRelease(home);
    say(`The last release is ${commit}.`);
    await buildServices({ engine, home, root, tag: 'released', file: RELEASED_IMAGES });
  } finally {
    await engine.stop();
  }
}

async function buildServices({
  engine,
  home,
  root,
  tag,
  file,
}: {
  engine: Engine;
  home: string;
  root: string;
  tag: ImageTag;
  file: string;
}): Promise<void> {
  const nameOf = (service: string) => `tollkeeper/${service}:${tag}`;
  // Merged with docker-compose.yml: builds reach the package registry through this machine's network.
  const services = SERVICES.map((service) => [service, { image: nameOf(service), build: { network: 'host' } }]);
  const override = join(home, 'build.compose.json');
  await writeFile(override, JSON.stringify({ services: Object.fromEntries(services) }));
  say(`Building the images of the services (${tag})…`);
  const files = ['--file', join(root, 'docker-compose.yml'), '--file', override];
  // One after the other, because each needs a gigabyte and both cores.
  for (const service of SERVICES) {
    await engine.compose([...files, '--progress', 'quiet', 'build', service], SAMPLE_SECRETS);
    say(`${nameOf(service)} is built.`);
  }
  await engine.saveImages(SERVICES.map(nameOf), join(home, file));
}
