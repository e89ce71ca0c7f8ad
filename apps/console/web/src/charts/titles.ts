import { dateTime, dateTimeWithOffset } from '../format/time.ts';

/** The start of each point in full, unambiguous where clocks show an hour twice. */
export function titlesOf(starts: readonly (string | number)[], zone: string): string[] {
  const titles = starts.map((start) => dateTime(start, zone));
  const seen = new Map<string, number>();
  for (const title of titles) seen.set(title, (seen.get(title) ?? 0) + 1);
  return titles.map((title, index) => (seen.get(title) === 1 ? title : dateTimeWithOffset(starts[index]!, zone)));
}
