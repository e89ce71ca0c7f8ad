import { useSpan } from '../app/span.ts';
import { exactMoney, money } from '../format/money.ts';
import { count, exactCount } from '../format/numbers.ts';
import { dateTime, relative } from '../format/time.ts';
import { useNow } from './now.ts';

/** USD from micros; every micro on hover. */
export function Money({ micros }: { micros: number }) {
  const short = money(micros);
  const exact = exactMoney(micros);
  return <span title={short === exact ? undefined : exact}>{short}</span>;
}

/** A number, short when it is large; the full one on hover. */
export function Count({ value }: { value: number }) {
  const short = count(value);
  const exact = exactCount(value);
  return <span title={short === exact ? undefined : exact}>{short}</span>;
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

/** "22 Nov 2026, 16:02:09" in the zone of the page. */
export function At({ at }: { at: string }) {
  const { zone } = useSpan();
  return (
    <time dateTime={at} title={`${dateTime(at, zone)} ${zone}`}>
      {dateTime(at, zone)}
    </time>
  );
}
