/** The rows of the first table after a text of a page, without its head, as texts of cells. */
export function tableOf(page: string, text: string): string[][] {
  const [, below = ''] = page.split(text);
  const [table = ''] = /^\|.*?(?=\n\n)/ms.exec(below) ?? [];
  return table
    .split('\n')
    .slice(2)
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** The sorted names in a text that are formatted as code. */
export function namesIn(text: string): string[] {
  return [...text.matchAll(/`([\w.*]+)`/g)].map(([, name = '']) => name).sort();
}
