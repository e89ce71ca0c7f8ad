const BLOCK = /^( *)```(\w+)\n([\s\S]*?)^\1```$/gm;

/** The fenced blocks of a language in a Markdown text, in order, without the indentation of their place. */
export function blocksOf(markdown: string, language: string): string[] {
  return [...markdown.matchAll(BLOCK)]
    .filter(([, , name]) => name === language)
    .map(([, indent = '', , text = '']) => text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
}
