export interface DocumentParts {
  title: string;
  /** HTML. */
  menu: string;
  body: string;
  /** Address of the style sheet. */
  style: string;
}

/** A page of the site. It needs no script. */
export function htmlDocument({ title, menu, body, style }: DocumentParts): string {
  const name = title === 'Tollkeeper' ? title : `${title} · Tollkeeper`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(name)}</title>
<link rel="stylesheet" href="${escaped(style)}">
</head>
<body>
<nav aria-label="Pages">
${menu}
</nav>
<main>
${body}
</main>
</body>
</html>
`;
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? character);
}
