import type { Api } from '../api/api.ts';
import { money } from '../format/money.ts';
import { text } from '../text/index.ts';
import { Meter } from './parts.tsx';
import css from './ui.module.css';

/** The used and the remaining part of a daily budget; a placeholder if unknown. */
export function LimitMeter({ limit }: { limit: Api.Limit | undefined }) {
  if (limit === undefined) return <div className={css['limit']} />;
  const { spent_micros: spent, held_micros: held, remaining_micros: left, daily_budget_usd_micros: budget } = limit;
  return (
    <div className={css['limit']}>
      <Meter
        spent={spent}
        held={held}
        budget={budget}
        label={text.limits.meter(money(spent), money(held), money(budget))}
      />
      <p className={css['hint']}>{text.limits.today(money(spent), money(held), money(left))}</p>
    </div>
  );
}
