import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { type Api, useRead } from '../../api/api.ts';
import { useMay, useWorkspace } from '../../app/account.tsx';
import { setUpHint } from '../../app/set-up.ts';
import { text } from '../../text/index.ts';
import { Card, Tag } from '../../ui/parts.tsx';
import css from './overview.module.css';

const words = text.firstRun;

/** What to do in a workspace that is new; gone once all of it is done. For owners, who may do it. */
export function FirstRun() {
  return useMay('owner') ? <Steps /> : null;
}

function Steps() {
  const { id: tenant_id, slug } = useWorkspace();
  const keys = useRead('GET /api/v1/management/workspace-keys', {}, { live: true });
  const agents = useRead('GET /api/v1/agents', { query: { limit: 1 } }, { live: true });
  const limits = useRead('GET /api/v1/limits', { query: {} }, { live: true });
  const rules = useRead('GET /api/v1/alerts/rules', {}, { live: true });
  const budget = useRead('GET /api/v1/workspaces/{tenant_id}/budgets/workspace', { path: { tenant_id } });
  const known = [keys, agents, limits, rules, budget].every(({ data }) => data !== undefined);
  const steps = [
    { step: 'key', to: '/w/$slug/keys', done: some(keys.data?.items.filter(isActive)) },
    { step: 'event', to: '/w/$slug/keys', done: some(agents.data?.items) },
    {
      step: 'budget',
      to: '/w/$slug/budgets',
      done: some(limits.data?.items) || typeof budget.data?.daily_budget_usd_micros === 'number',
    },
    { step: 'rule', to: '/w/$slug/rules', done: some(rules.data?.items) },
  ] as const;
  const needed = known ? !steps.every(({ done }) => done) : setUpHint.get(tenant_id);
  useEffect(() => {
    if (known) setUpHint.set(tenant_id, needed);
  }, [known, needed, tenant_id]);
  if (!needed) return null;
  return (
    <div className={css['first']}>
      <Card title={words.title}>
        <p>{words.lead}</p>
        <ol className={css['stepsToDo']}>
          {steps.map(({ step, to, done }) => (
            <li key={step} data-done={done}>
              <Link to={to} params={{ slug }}>
                {words.steps[step].name}
              </Link>
              {done && <Tag tone="ok">{words.done}</Tag>}
              <p className={css['sub']}>{words.steps[step].text}</p>
            </li>
          ))}
        </ol>
      </Card>
    </div>
  );
}

function isActive({ revoked_at }: Api.WorkspaceKey): boolean {
  return revoked_at === null;
}

function some(items: readonly unknown[] | undefined): boolean {
  return items !== undefined && items.length > 0;
}
