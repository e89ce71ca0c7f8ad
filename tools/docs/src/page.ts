import GithubSlugger from 'github-slugger';
import { lexer, type Token, walkTokens } from 'marked';

/** A Markdown file, as GitHub shows it. */
export interface Page {
  /** From the root of the repository, with slashes. */
  path: string;
  markdown: string;
  title: string;
  /** The anchors of its headings, in order. */
  anchors: string[];
  /** Targets of links and images, as written. */
  links: string[];
}

export function parsePage(path: string, markdown: string): Page {
  const slugger = new GithubSlugger();
  const headings: string[] = [];
  const links: string[] = [];
  void walkTokens(lexer(markdown), (token) => {
    if (token.type === 'heading') headings.push(textOf(token.tokens ?? []));
    if (token.type === 'link' || token.type === 'image') links.push(String(token.href));
    if (token.type === 'html') links.push(...linksInHtml(token.raw));
  });
  return { path, markdown, title: headings[0] ?? path, anchors: headings.map((text) => slugger.slug(text)), links };
}

/** The text without its formatting. */
function textOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) => ('tokens' in token && token.tokens !== undefined ? textOf(token.tokens) : plain(token)))
    .join('');
}

function plain(token: Token): string {
  return 'text' in token ? String(token.text) : token.raw;
}

/** An attribute with an address: what is before its value, and the value. */
export const HTML_LINK = /(\s(?:href|src|srcset)=")([^"]*)"/g;

function linksInHtml(html: string): string[] {
  return [...html.matchAll(HTML_LINK)].map(([, , target = '']) => target);
}
