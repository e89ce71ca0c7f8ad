import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { type Api, useRead } from '../../api/api.ts';
import { useMay, useWorkspace } from '../../app/account.tsx';
import { setUpHint } from '../../app/set-up.ts';
import { text } from '../../text/index.ts';
import { Card, Skeleton, Tag } from '../../ui/parts.tsx';
import css from './overview.module.css';

const words = text.firstRun;

/**
 * Shows owners of a new workspace the first steps, above the page. Whether to show them is decided once, before the
 * page is drawn, because a card that came or went later would move everything below it.
 */
export function FirstRun({ children }: { children: ReactNode }) {
  return useMay('owner') ? <Steps>{children}</Steps> : children;
}

function Steps({ children }: { children: ReactNode }) {
  const { id: tenant_id, slug } = useWorkspace();
  const keys = useRead('GET /api/v1/management/workspace-keys', {}, { live: true });
  const agents = useRead('GET /api/v1/agents', { query: { limit: 1 } }, { live: true });
  const limits = useRead('GET /api/v1/limits', { query: {} }, { live: true });
  const rules = useRead('GET /api/v1/alerts/rules', {}, { live: true });
  const budget = useRead('GET /api/v1/workspaces/{tenant_id}/budgets/workspace', { path: { tenant_id } });
  const reads = [keys, agents, limits, rules, budget];
  const steps = [
    { step: 'key', to: '/w/$slug/keys', done: some(keys.data?.items.filter(isActive)) },
    { step: 'event', to: '/w/$slug/connect', done: some(agents.data?.items) },
    {
      step: 'budget',
      to: '/w/$slug/budgets',
      done: some(limits.data?.items) || typeof budget.data?.daily_budget_usd_micros === 'number',
    },
    { step: 'rule', to: '/w/$slug/rules', done: some(rules.data?.items) },
  ] as const;
  const known = reads.every(({ data }) => data !== undefined);
  const needed = known && !steps.every(({ done }) => done);
  useEffect(() => {
    if (known) setUpHint.set(tenant_id, needed);
  }, [known, needed, tenant_id]);
  const [shown, setShown] = useState(() => setUpHint.get(tenant_id));
  if (shown === undefined && !reads.some(({ isPending }) => isPending)) setShown(needed);
  return (
    <>
      {shown === true && <StepsCard slug={slug} steps={steps} />}
      {shown === undefined && (
        <div className={css['undecided']} role="status" aria-label={text.common.list.loading}>
          <Skeleton height={170} />
        </div>
      )}
      {/* Hidden instead of omitted, so that its data loads immediately. */}
      <div className={css['below']} data-shown={shown !== undefined}>
        {children}
      </div>
    </>
  );
}

interface Step {
  step: keyof typeof words.steps;
  to: '/w/$slug/keys' | '/w/$slug/connect' | '/w/$slug/budgets' | '/w/$slug/rules';
  done: boolean;
}

function StepsCard({ slug, steps }: { slug: string; steps: readonly Step[] }) {
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
