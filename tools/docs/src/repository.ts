import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { type Page, parsePage } from './page.ts';

/** Folders of others and of builds. */
const NOT_OURS = new Set(['node_modules', 'dist', '.nx', '.git', '.github', '.tollkeeper']);

/** All pages below `root`: every Markdown file but the generated change logs. */
export function readPages(root: string): Page[] {
  const paths = globSync('**/*.md', { cwd: root, exclude: (name) => NOT_OURS.has(name) });
  return paths
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => posix.basename(path) !== 'CHANGELOG.md')
    .sort()
    .map((path) => parsePage(path, readFileSync(join(root, path), 'utf8')));
}

/** Where a link of a page leads. */
export type Target =
  | { kind: 'outside' }
  | { kind: 'missing' }
  | { kind: 'file' | 'folder'; path: string; anchor: string }
  /** A page, or a folder with a README. */
  | { kind: 'page'; page: Page; anchor: string };

/** Finds the targets of links. */
export function createResolver(root: string, pages: readonly Page[]): (from: string, link: string) => Target {
  const byPath = new Map(pages.map((page) => [page.path, page]));

  return (from, link) => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return { kind: 'outside' };
    const [before = '', anchor = ''] = link.split('#', 2).map(decoded);
    const path = before === '' ? from : posix.normalize(posix.join(dirname(from), before)).replace(/\/$/, '');
    // A path from the root leads to different places on GitHub, in an editor and in the site.
    if (before.startsWith('/') || path.startsWith('..')) return { kind: 'missing' };
    const page = byPath.get(path) ?? byPath.get(posix.join(path, 'README.md'));
    if (page !== undefined) return { kind: 'page', page, anchor };
    if (!existsSync(join(root, path))) return { kind: 'missing' };
    return { kind: statSync(join(root, path)).isDirectory() ? 'folder' : 'file', path, anchor };
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
