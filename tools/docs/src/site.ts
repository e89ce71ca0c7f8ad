import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { escaped, htmlDocument } from './document.ts';
import { addressFrom, addressOf, menuOf } from './menu.ts';
import { HTML_LINK, type Page } from './page.ts';
import { createResolver, readPages } from './repository.ts';

/** Writes the pages of the repository as static files, and copies the files that they link to. */
export function buildSite(root: string, out: string): { pages: number } {
  const pages = readPages(root);
  const resolve = createResolver(root, pages);
  const files = new Set<string>();
  const folders = new Set<string>();

  /** The address in the site for a link of a page. */
  function linkOf(page: Page, link: string): string {
    const target = resolve(page.path, link);
    switch (target.kind) {
      case 'outside':
      case 'missing':
        return link;
      case 'page':
        return `${addressFrom(page.path, addressOf(target.page.path))}${target.anchor && `#${target.anchor}`}`;
      case 'folder':
        folders.add(target.path);
        return addressFrom(page.path, posix.join(target.path, 'index.html'));
      case 'file':
        files.add(target.path);
        return addressFrom(page.path, target.path);
    }
  }

  /** A list of the files of a folder that a page links to. */
  function listing(folder: string): string {
    const items = readdirSync(join(root, folder), { withFileTypes: true }).filter((entry) => entry.isFile());
    const links = items.map(({ name }) => {
      const page = pages.find(({ path }) => path === posix.join(folder, name));
      if (page === undefined) files.add(posix.join(folder, name));
      return `<li><a href="${encodeURI(addressOf(name))}">${escaped(page?.title ?? name)}</a></li>`;
    });
    return `<h1>${escaped(folder)}</h1>\n<ul>\n${links.join('\n')}\n</ul>`;
  }

  function write(from: string, title: string, body: string): void {
    const file = join(out, addressOf(from));
    mkdirSync(dirname(file), { recursive: true });
    const style = addressFrom(from, 'style.css');
    writeFileSync(file, htmlDocument({ title, body, menu: menuOf(pages, from), style }));
  }

  rmSync(out, { recursive: true, force: true });
  for (const page of pages)
    write(
      page.path,
      page.title,
      render(page, (link) => linkOf(page, link)),
    );
  for (const folder of folders) write(posix.join(folder, 'index.html'), folder, listing(folder));
  for (const path of files) cpSync(join(root, path), join(out, path));
  cpSync(join(import.meta.dirname, 'style.css'), join(out, 'style.css'));
  return { pages: pages.length };
}

function render({ markdown, anchors }: Page, linkOf: (link: string) => string): string {
  const left = [...anchors];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading) {
        const anchor = escaped(left.shift() ?? '');
        return `<h${depth} id="${anchor}"><a href="#${anchor}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
      },
      html: ({ raw }: Tokens.HTML | Tokens.Tag) =>
        raw.replace(HTML_LINK, (_, before: string, link: string) => `${before}${escaped(linkOf(link))}"`),
    },
    walkTokens(token) {
      if (token.type === 'link' || token.type === 'image') token.href = linkOf(String(token.href));
    },
  });
  return marked.parse(markdown, { async: false });
}
