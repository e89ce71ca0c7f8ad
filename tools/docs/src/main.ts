// Writes the site of the documentation into `dist/docs`, which it replaces.
import { join } from 'node:path';
import { brokenLinks } from './broken-links.ts';
import { readPages } from './repository.ts';
import { buildSite } from './site.ts';

const root = join(import.meta.dirname, '../../..');
const out = join(root, 'dist/docs');

const broken = brokenLinks(root, readPages(root));
for (const link of broken) console.error(link);
if (broken.length > 0) process.exitCode = 1;
const { pages } = buildSite(root, out);
console.log(`${pages} pages: ${join(out, 'index.html')}`);
