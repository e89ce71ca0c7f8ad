import type { Api } from '../../api/api.ts';
import { exactMoney, money } from '../../format/money.ts';
import { shortPercent } from '../../format/numbers.ts';
import { dates } from '../../format/time.ts';
import { startOfDay } from '../../format/zoned.ts';
import { bills as words } from '../../text/bills.ts';
import { text } from '../../text/index.ts';

export type Compared = Pick<Api.ReconciliationSummary, 'charged_micros' | 'counted_micros' | 'difference_micros'>;

/** The UTC days of a bill, from the start of the first to the end of the last. */
export function spanOf({ from, to }: Api.ReconciliationSummary) {
  return { start: startOfDay(from, 'UTC'), end: startOfDay(to, 'UTC', true) };
}

export function daysOf(bill: Api.ReconciliationSummary): string {
  return dates(spanOf(bill), 'UTC');
}

export function nameOf(bill: Api.ReconciliationSummary): string {
  return bill.file_name === '' ? words.unnamed(daysOf(bill)) : bill.file_name;
}

/** What was counted more or less than billed, with every micro on hover. */
export function Difference({ of: { difference_micros: micros } }: { of: Compared }) {
  const short = signed(micros, money);
  const exact = signed(micros, exactMoney);
  return (
    <span title={short === exact ? undefined : exact} data-zero={micros === 0}>
      {short}
    </span>
  );
}

/** The difference as a share of what was billed; none if that is nothing or a credit. */
export function DifferenceShare({ of: { charged_micros: billed, difference_micros: micros } }: { of: Compared }) {
  if (billed <= 0) return text.common.none;
  return signed(micros, (size) => shortPercent(size / Math.abs(billed)));
}

function signed(micros: number, write: (size: number) => string): string {
  const size = write(Math.abs(micros));
  if (micros === 0) return size;
  return micros > 0 ? words.more(size) : words.less(size);
}
