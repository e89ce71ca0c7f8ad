import { IMAGE_FILES, RELEASED_IMAGES } from './images.ts';
import { runOnNode } from './session.ts';
import { upgrade } from './upgrade.ts';

/** Runs in separate namespaces (sandbox.ts): `upgrade.main.ts <home> <folder with the sources of the last release>`. */
const [home = '', root = ''] = process.argv.slice(2);

const installed = { home, images: [...IMAGE_FILES, RELEASED_IMAGES], root, tag: 'released' } as const;
const complete = await runOnNode(installed, (session) => upgrade(session, root));
process.exit(complete ? 0 : 1);
