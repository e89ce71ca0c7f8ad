import type { Api } from '../../api/api.ts';
import { useSpan } from '../../app/span.ts';
import { money } from '../../format/money.ts';
import { clock, shortDay } from '../../format/time.ts';
import { dayOf } from '../../format/zoned.ts';
import { raises as words } from '../../text/raises.ts';
import { useNow } from '../../ui/now.ts';
import ui from '../../ui/ui.module.css';

type Raisable = Pick<Api.Limit, 'raised_micros' | 'raised_until'>;

/** "+ $10.00 until 18:00" beside a limit; nothing without a raise in force. */
export function Raised({ limit }: { limit: Raisable | undefined }) {
  const until = useUntil();
  const { raised_micros: micros, raised_until: end } = limit ?? {};
  if (micros === undefined || end === undefined) return null;
  return <div className={ui['hint']}>{words.raised(money(micros), until(end))}</div>;
}

/** Says until when: the time alone today, with the day otherwise. */
export function useUntil(): (instant: string) => string {
  const { zone } = useSpan();
  const now = useNow();
  return (instant) => {
    const isToday = dayOf(Date.parse(instant), zone) === dayOf(now, zone);
    return isToday ? clock(instant, zone) : `${shortDay(instant, zone)}, ${clock(instant, zone)}`;
  };
}
