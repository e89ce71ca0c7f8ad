/** The rows of the first table below a text of a page, without its head, each as the text of its cells. */
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

/** The names that stand in a text as code, in an order of their own. */
export function namesIn(text: string): string[] {
  return [...text.matchAll(/`([\w.*]+)`/g)].map(([, name = '']) => name).sort();
}
