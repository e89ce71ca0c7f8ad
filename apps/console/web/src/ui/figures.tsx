import { useSpan } from '../app/span.ts';
import { exactMoney, money } from '../format/money.ts';
import { count, exactCount } from '../format/numbers.ts';
import { dateTime, dateTimeOf, relative } from '../format/time.ts';
import { text } from '../text/index.ts';
import { useNow } from './now.ts';

/** When the page was opened, in milliseconds. Dates in this year are shown without the year. */
const OPENED_AT = Date.now();

/** USD from micros, with every micro on hover. */
export function Money({ micros }: { micros: number }) {
  const short = money(micros);
  const exact = exactMoney(micros);
  return (
    <span title={short === exact ? undefined : exact} data-zero={micros === 0}>
      {short}
    </span>
  );
}

/** A number, shortened if large, in full on hover. */
export function Count({ value }: { value: number }) {
  const short = count(value);
  const exact = exactCount(value);
  return (
    <span title={short === exact ? undefined : exact} data-zero={value === 0}>
      {short}
    </span>
  );
}

/** Whether tokens are known: some gateways do not report them. */
export function hasTokens({ input, output }: TokenCounts): boolean {
  return input > 0 || output > 0;
}

interface TokenCounts {
  input: number;
  output: number;
}

/** Tokens in and out, if reported. */
export function Tokens({ input, output }: TokenCounts) {
  if (!hasTokens({ input, output })) return text.common.none;
  return (
    <>
      <Count value={input} /> / <Count value={output} />
    </>
  );
}

/** "12 min ago"; the exact time with its zone on hover. */
export function Ago({ at }: { at: string }) {
  const now = useNow();
  const { zone } = useSpan();
  return (
    <time dateTime={at} title={`${dateTime(at, zone)} ${zone}`}>
      {relative(at, now)}
    </time>
  );
}

/** "22 Nov, 16:02:09". The year is shown if it is another one, and always on hover. `zone`: if not that of the page. */
export function At({ at, zone: given }: { at: string; zone?: string }) {
  const { zone: ofPage } = useSpan();
  const zone = given ?? ofPage;
  return (
    <time dateTime={at} title={`${dateTime(at, zone)} ${zone}`}>
      {dateTimeOf(at, zone, OPENED_AT)}
    </time>
  );
}
