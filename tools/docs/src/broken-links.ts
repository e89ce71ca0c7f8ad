import type { Page } from './page.ts';
import { createResolver } from './repository.ts';

/** Each link within the repository that leads nowhere: its page, the link, and what is missing. */
export function brokenLinks(root: string, pages: readonly Page[]): string[] {
  const resolve = createResolver(root, pages);
  return pages.flatMap(({ path, links }) =>
    links.flatMap((link) => {
      const target = resolve(path, link);
      if (target.kind === 'missing') return [`${path}: ${link} does not exist`];
      if (!('anchor' in target) || target.anchor === '') return [];
      if (target.kind !== 'page') return [`${path}: ${link} has an anchor, and only pages have anchors`];
      if (target.page.anchors.includes(target.anchor)) return [];
      return [`${path}: ${link}: ${target.page.path} has no such heading`];
    }),
  );
}
