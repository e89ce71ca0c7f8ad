import { posix } from 'node:path';
import { escaped } from './document.ts';
import type { Page } from './page.ts';

/** The groups of the menu. A page belongs to the first one that matches its path. */
const GROUPS: readonly (readonly [title: string, paths: RegExp])[] = [
  ['Tollkeeper', /^README\.md$/],
  ['Guides', /^docs\/[^/]+$/],
  ['Gateways and clients', /^(?:examples|integrations|libs)\//],
  ['Services', /^apps\//],
  ['Decisions', /^docs\/adr\//],
  ['Contributing', /^/],
];

/** Links to all pages, from the page at `from`. */
export function menuOf(pages: readonly Page[], from: string): string {
  const groupOf = ({ path }: Page) => GROUPS.find(([, paths]) => paths.test(path));
  return GROUPS.map((group) => {
    const items = pages.filter((page) => groupOf(page) === group).map((page) => linkTo(page, from));
    const open = items.some((item) => item.includes('aria-current')) ? ' open' : '';
    return `<details${open}><summary>${group[0]}</summary>\n<ul>\n${items.join('\n')}\n</ul></details>`;
  }).join('\n');
}

function linkTo({ path, title }: Page, from: string): string {
  const current = path === from ? ' aria-current="page"' : '';
  return `<li><a href="${addressFrom(from, addressOf(path))}"${current}>${escaped(title)}</a></li>`;
}

/** The file of the site for a page: a README is the index of its folder. */
export function addressOf(path: string): string {
  return path.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html');
}

/** The address of a file, relative to the page at `from`. */
export function addressFrom(from: string, path: string): string {
  return encodeURI(posix.relative(posix.dirname(from), path));
}
