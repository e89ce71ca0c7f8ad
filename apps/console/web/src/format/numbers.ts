import { formats } from '../text/formats.ts';

const compact = new Intl.NumberFormat(formats.numbers, { notation: 'compact', maximumFractionDigits: 1 });

/** "1,906", and "1.9M" from ten thousand on. */
export function count(value: number): string {
  return Math.abs(value) < 10_000 ? value.toLocaleString(formats.numbers) : compact.format(value);
}

export function exactCount(value: number): string {
  return value.toLocaleString(formats.numbers);
}

/** "79%"; only nothing is shown as 0%, and only all as 100%. */
export function percent(part: number): string {
  const pct = part * 100;
  if (pct > 0 && pct < 1) return '<1%';
  if (pct < 100 && pct > 99) return '99%';
  return `${Math.round(pct).toLocaleString(formats.numbers)}%`;
}

/** As `percent`, but ">999%" for more, which fits everywhere. */
export function shortPercent(part: number): string {
  return part < 10 ? percent(part) : `>${percent(9.99)}`;
}

/** The change from `before` to `now`, in percent of `before`; null if there is nothing to compare with. */
export function change(now: number, before: number): number | null {
  return before === 0 ? null : (now - before) / before;
}
