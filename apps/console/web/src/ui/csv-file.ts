import { toCsvLine } from '@tollkeeper/kernel/csv';
import { text } from '../text/index.ts';
import css from './ui.module.css';

/** How long the browser may take to begin a download. */
const BEGIN_MS = 10_000;

/** A table as CSV, without columns that have no name, or only drawings and buttons. */
export function linesOf(table: HTMLTableElement): string {
  const [heads = [], ...rows] = Array.from(table.rows, ({ cells }) => Array.from(cells, textOf));
  const isKept = (_cell: string, column: number) => heads[column] !== '' && rows.some((cells) => cells[column] !== '');
  return [heads, ...rows].map((cells) => toCsvLine(cells.filter(isKept))).join('');
}

export function saveFile(name: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 80)}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), BEGIN_MS);
}

function textOf(node: Node): string {
  if (node instanceof Text) return node.data;
  if (!(node instanceof HTMLElement) || node.classList.contains(css['button'] ?? '')) return '';
  if (node instanceof HTMLTimeElement) return node.dateTime;
  if (node instanceof HTMLInputElement || node instanceof HTMLSelectElement) return node.value;
  // Figures are rounded, and have the exact one as their title.
  if (node.dataset['zero'] !== undefined && node.title !== '') return plain(node.title);
  let content = '';
  for (const child of node.childNodes) content += child instanceof Text ? child.data : ` ${textOf(child)} `;
  return plain(content.replaceAll(/\s+/g, ' ').trim());
}

/** An amount or a number as spreadsheets read it in every language, and nothing for none. */
function plain(shown: string): string {
  if (shown === text.common.none) return '';
  return /^[−-]?\$?\d{1,3}(?:,\d{3})*(?:\.\d+)?$/.test(shown) ? shown.replaceAll(/[$,]/g, '').replace('−', '-') : shown;
}
