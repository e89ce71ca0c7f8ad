import { Link } from '@tanstack/react-router';
import { useWorkspace } from '../../app/account.tsx';
import { money } from '../../format/money.ts';
import { shortPercent } from '../../format/numbers.ts';
import { budgetName } from '../../text/budget-words.ts';
import { text } from '../../text/index.ts';
import { budgetTone, Tag } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { type BudgetAtRisk, usedOf } from '../budgets/risk.ts';

const words = text.overview;

export function BudgetsAtRisk({ atRisk }: { atRisk: readonly BudgetAtRisk[] }) {
  const { slug } = useWorkspace();
  return (
    <ul>
      {atRisk.map(({ limit, risk, forecast }) => {
        const { budget_id: budget, spent_micros: spent, limit_micros: most } = limit;
        const isFast = forecast !== null && forecast > most && spent < most;
        return (
          <li key={budget}>
            <Tag tone={isFast ? 'bad' : budgetTone(spent, most)}>{shortPercent(isFast ? risk : usedOf(limit))}</Tag>
            <Link to="/w/$slug/budgets" params={{ slug }} search={{ budget }} className={ui['name']}>
              {budgetName(limit) ?? limit.budget_name}
            </Link>
            <p>{isFast ? words.forecastOf(money(forecast), money(most)) : words.spentOf(money(spent), money(most))}</p>
          </li>
        );
      })}
    </ul>
  );
}
