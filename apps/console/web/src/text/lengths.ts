import { counted } from './plurals.ts';

const DAY = 86_400;
const UNITS = [
  { size: DAY, noun: { one: 'day', other: 'days' } },
  { size: 3_600, noun: { one: 'hour', other: 'hours' } },
  { size: 60, noun: { one: 'minute', other: 'minutes' } },
  { size: 1, noun: { one: 'second', other: 'seconds' } },
];

/** "10 minutes", "1 hour", "24 hours", "2 days": a chosen duration. */
export function inWords(seconds: number): string {
  // One day is shown in hours, because windows of rules slide and do not start at midnight.
  const unit = UNITS.find(({ size }) => seconds % size === 0 && seconds >= (size === DAY ? 2 * DAY : size));
  const { size, noun } = unit ?? { size: 1, noun: UNITS.at(-1)!.noun };
  return counted(seconds / size, noun);
}
