import { cpSync, globSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

// Runs in a copy of the workspace, `.cache/mutation/copies/<copy>`. Packages are found in the workspace above it,
// except those in a project's own `node_modules`. Links between projects must point into the copy.
const workspace = resolve('../../../..');
const LINKS = 'node_modules/@tollkeeper';
cpSync(join(workspace, LINKS), LINKS, { recursive: true, verbatimSymlinks: true });
for (const own of globSync('{apps,libs,tools}/*/node_modules', { cwd: workspace }))
  symlinkSync(join(workspace, own), own);
