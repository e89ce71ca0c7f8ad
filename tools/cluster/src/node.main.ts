import { ROOT } from '@tollkeeper/deployment';
import { CHECKS } from './checks.ts';
import { IMAGE_FILES } from './images.ts';
import { runOnNode } from './session.ts';

/** Runs in separate namespaces (sandbox.ts): `node.main.ts <home> <check> …`. */
const [home = '', ...names] = process.argv.slice(2);

const complete = await runOnNode({ home, images: IMAGE_FILES, root: ROOT, tag: 'local' }, async (session) => {
  for (const name of names) await session.underLoad(name, async () => CHECKS[name]?.(session.cluster));
});
process.exit(complete ? 0 : 1);
