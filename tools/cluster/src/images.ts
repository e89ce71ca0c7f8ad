import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, SAMPLE_SECRETS } from '@tollkeeper/deployment';
import { SERVICES } from '@tollkeeper/topology';
import { makeBaseImages, NODE_IMAGES } from './base.images.ts';
import { startEngine } from './engine.ts';
import { say } from './say.ts';

/** Merged with docker-compose.yml: builds reach the package registry through this machine's network. */
const BUILD_NETWORK = {
  services: Object.fromEntries(SERVICES.map((service) => [service, { build: { network: 'host' } }])),
};

/** The files that a node needs, in the folder passed to `buildImages`. */
export const IMAGE_FILES = ['base-images.tar', 'service-images.tar'];

/**
 * Builds the image of every service as docs/deployment.md says, and writes them and the images that they need to
 * `IMAGE_FILES`.
 */
export async function buildImages(home: string): Promise<void> {
  const engine = await startEngine({ directory: home, network: false, onProgress: say });
  try {
    await makeBaseImages({ engine, directory: home, onProgress: say });
    const override = join(home, 'build.compose.json');
    await writeFile(override, JSON.stringify(BUILD_NETWORK));
    say('Building the images of the services…');
    const files = ['--file', join(ROOT, 'docker-compose.yml'), '--file', override];
    // One after the other, because each needs a gigabyte and both cores.
    for (const service of SERVICES) {
      await engine.compose([...files, '--progress', 'quiet', 'build', service], SAMPLE_SECRETS);
      say(`tollkeeper/${service}:local is built.`);
    }
    const images = [[...NODE_IMAGES], SERVICES.map((service) => `tollkeeper/${service}:local`)];
    for (const [index, file] of IMAGE_FILES.entries()) await engine.saveImages(images[index] ?? [], join(home, file));
  } finally {
    await engine.stop();
  }
}
