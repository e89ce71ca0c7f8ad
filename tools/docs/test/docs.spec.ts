import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { brokenLinks } from '../src/broken-links.ts';
import { readPages } from '../src/repository.ts';
import { buildSite } from '../src/site.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'tollkeeper-docs-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A repository with these files. */
function repositoryOf(name: string, files: Record<string, string>): string {
  const root = join(folder, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

it('every link of a page within the repository leads to a file, and each anchor to a heading', () => {
  const pages = readPages(ROOT);
  expect(pages.length).toBeGreaterThan(60);
  expect(brokenLinks(ROOT, pages)).toEqual([]);
});

describe('a broken link', () => {
  const root = repositoryOf('links', {
    'README.md': `# Start

[a](docs/a.md) [b](docs/a.md#the-second-one) [c](#start) [d](docs) [e](https://example.com/x) [f](docs/data.json)
![gone](gone.png) [g](docs/a.md#nothing) [h](#nothing) [i](/docs/a.md) [j](../outside.md) [k](docs/data.json#L1)
[l][ref] <a href="gone.html">m</a>

[ref]: docs/none.md
`,
    'docs/a.md': '# A\n\n## The `second` **one**\n\n## Twice\n\n## Twice\n\n[t](#twice-1) [u](%2e%2e/README.md)\n',
    'docs/data.json': '{}',
    'node_modules/other/README.md': '[x](gone.md)',
    'CHANGELOG.md': '[x](gone.md)',
  });

  it('is named with its page and what is missing, and no other link is', () => {
    expect(brokenLinks(root, readPages(root)).sort()).toEqual([
      'README.md: #nothing: README.md has no such heading',
      'README.md: ../outside.md does not exist',
      'README.md: /docs/a.md does not exist',
      'README.md: docs/a.md#nothing: docs/a.md has no such heading',
      'README.md: docs/data.json#L1 has an anchor, and only pages have anchors',
      'README.md: docs/none.md does not exist',
      'README.md: gone.html does not exist',
      'README.md: gone.png does not exist',
    ]);
  });
});

describe('the site', () => {
  const out = join(folder, 'site');

  it('has each page of the repository, and every link and anchor of it leads to a file of the site', () => {
    const { pages } = buildSite(ROOT, out);
    const files = globSync('**/*.html', { cwd: out });
    expect(files.length).toBeGreaterThanOrEqual(pages);
    const ids = new Map<string, Set<string>>();
    const idsOf = (file: string) => {
      const known = ids.get(file) ?? new Set([...read(file).matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id));
      ids.set(file, known);
      return known;
    };
    const broken = files.flatMap((file) => {
      const path = join(out, file);
      const links = [...read(path).matchAll(/\s(?:href|src)="([^"]*)"/g)].map(([, link = '']) => link);
      return links.filter((link) => {
        if (/^[a-z]+:/.test(link)) return false;
        const [before = '', anchor = ''] = link.split('#');
        const target = before === '' ? path : join(dirname(path), decodeURI(before));
        if (!existsSync(target) || !statSync(target).isFile()) return true;
        return anchor !== '' && !idsOf(target).has(anchor);
      });
    });
    expect(broken).toEqual([]);
  });

  it('shows a page with its title, its menu and its tables, and text of a page as text', () => {
    const root = repositoryOf('site-of-one', {
      'README.md': '# A `<b>` & c\n\n| x | y |\n| - | - |\n| `1 < 2` | 3 |\n\n[decisions](docs/adr)\n',
      'docs/adr/0001-one.md': '# 1. One\n',
    });
    const small = join(folder, 'small');
    buildSite(root, small);
    const page = read(join(small, 'index.html'));
    expect(page).toContain('<title>A &lt;b&gt; &amp; c · Tollkeeper</title>');
    expect(page).toContain('<a href="index.html" aria-current="page">');
    expect(page).toContain('<td><code>1 &lt; 2</code></td>');
    expect(read(join(small, 'docs/adr/index.html'))).toContain('<a href="0001-one.html">1. One</a>');
  });
});

function read(path: string): string {
  return readFileSync(path, 'utf8');
}
