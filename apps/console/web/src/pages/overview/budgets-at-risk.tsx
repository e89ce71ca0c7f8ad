import { Link } from '@tanstack/react-router';
import type { Api } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { money } from '../../format/money.ts';
import { shortPercent } from '../../format/numbers.ts';
import { budgetName } from '../../text/budget-words.ts';
import { text } from '../../text/index.ts';
import { budgetTone, Tag } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { riskOf, usedOf } from '../budgets/risk.ts';

const words = text.overview;

export function BudgetsAtRisk({ atRisk }: { atRisk: readonly Api.BudgetRisk[] }) {
  const { slug } = useWorkspace();
  return (
    <ul>
      {atRisk.map((limit) => {
        const { budget_id: budget, spent_micros: spent, limit_micros: most, pace_end_micros: forecast } = limit;
        const isFast = forecast !== null && forecast > most && spent < most;
        return (
          <li key={budget}>
            <Tag tone={isFast ? 'bad' : budgetTone(spent, most)}>
              {shortPercent(isFast ? riskOf(limit) : usedOf(limit))}
            </Tag>
            <Link to="/w/$slug/budgets" params={{ slug }} search={{ budget }} className={ui['name']}>
              {budgetName({ scope: 'budget', ...limit })}
            </Link>
            <p>{isFast ? words.forecastOf(money(forecast), money(most)) : words.spentOf(money(spent), money(most))}</p>
          </li>
        );
      })}
    </ul>
  );
}
