import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { type Answer, type Api, useRead } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { useSpan } from '../../app/span.ts';
import { money } from '../../format/money.ts';
import { change, count, percent } from '../../format/numbers.ts';
import { clock, duration } from '../../format/time.ts';
import { text } from '../../text/index.ts';
import { Count, hasTokens, Money } from '../../ui/figures.tsx';
import { useNow } from '../../ui/now.ts';
import { budgetTone, Card, Loaded, Meter } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { allBlocked, BLOCKED_KINDS, kindInAddress } from '../blocked/blocked-search.ts';
import css from './overview.module.css';

const words = text.overview;

export function Kpis({ overview }: { overview: Answer<Api.Overview> }) {
  const { slug } = useWorkspace();
  return (
    <div className={css['kpis']}>
      <Card title={words.spend}>
        <div className={css['spend']}>
          <Loaded query={overview} height={52}>
            {(data) => <SpendFigure data={data} />}
          </Loaded>
        </div>
      </Card>
      <Card title={words.blocked}>
        <div className={css['blocked']}>
          <Loaded query={overview} height={52}>
            {({ blocked, comparison }) => {
              const now = allBlocked(blocked);
              return (
                <>
                  <p className={css['figure']}>
                    <NumberLink to="/w/$slug/blocked" of={words.blocked}>
                      <Count value={now} />
                    </NumberLink>
                  </p>
                  <p className={css['sub']}>
                    <Comparison now={now} before={allBlocked(comparison)} write={count} />
                  </p>
                  <p className={css['sub']}>
                    {BLOCKED_KINDS.map((kind, index) => (
                      <Fragment key={kind}>
                        {index > 0 && ', '}
                        <Link
                          to="/w/$slug/blocked"
                          params={{ slug }}
                          search={(before) => ({ ...before, ...kindInAddress(kind) })}
                        >
                          {words.by[kind](count(blocked[kind]))}
                        </Link>
                      </Fragment>
                    ))}
                  </p>
                </>
              );
            }}
          </Loaded>
        </div>
      </Card>
      <Card title={words.agents}>
        <Loaded query={overview} height={52}>
          {({ active_agents, runs, spend }) => (
            <>
              <p className={css['figure']}>
                <NumberLink to="/w/$slug/agents" of={words.agents}>
                  <Count value={active_agents} />
                </NumberLink>
              </p>
              <p className={css['sub']}>{words.runs(runs, spend.unique_settlements)}</p>
            </>
          )}
        </Loaded>
      </Card>
      <Card title={words.each}>
        <Loaded query={overview} height={52}>
          {({ spend }) => (
            <>
              <p className={css['figure']}>
                <NumberLink to="/w/$slug/spend" of={words.each}>
                  <Money micros={Math.round(spend.avg_micros_per_settlement)} />
                </NumberLink>
              </p>
              <p className={css['sub']}>{tokensOf(spend)}</p>
            </>
          )}
        </Loaded>
      </Card>
    </div>
  );
}

function tokensOf({ input_tokens: input, output_tokens: output }: Api.SpendMetrics): string {
  if (!hasTokens({ input, output })) return words.tokens(text.common.none, text.common.none);
  return words.tokens(count(input), count(output));
}

/** A number that links to its page. */
function NumberLink({ to, of, children }: NumberLinkProps) {
  const { slug } = useWorkspace();
  return (
    <Link to={to} params={{ slug }} className={ui['name']}>
      <span className="heard">{of}: </span>
      {children}
    </Link>
  );
}

interface NumberLinkProps {
  to: '/w/$slug/spend' | '/w/$slug/blocked' | '/w/$slug/agents';
  /** What the number counts, for screen readers. */
  of: string;
  children: ReactNode;
}

function SpendFigure({ data }: { data: Api.Overview }) {
  const { range } = useSpan();
  const budget = data.budget.window_budget_usd_micros;
  return (
    <>
      <p className={css['figure']}>
        <NumberLink to="/w/$slug/spend" of={words.spend}>
          <Money micros={data.spend.total_micros} />
        </NumberLink>{' '}
        <small>{budget === null ? words.noBudget : words.of(money(budget))}</small>
      </p>
      {range === 'today' && budget !== null && (
        <TodaysBudget spent={data.spend.total_micros} budget={budget} stale={data.budget_stale === true} />
      )}
      <p className={css['sub']}>
        <Comparison
          now={data.spend.total_micros}
          before={data.comparison.total_micros}
          write={money}
          threatens={budget !== null && budgetTone(data.spend.total_micros, budget) !== 'calm'}
        />
      </p>
      <NotIncluded unpriced={data.unpriced.calls} unmetered={data.unmetered.calls} />
    </>
  );
}

/** Calls of which nobody knows what they cost, if there are any. */
function NotIncluded({ unpriced, unmetered }: { unpriced: number; unmetered: number }) {
  const { slug } = useWorkspace();
  if (unpriced + unmetered === 0) return null;
  return (
    <p className={css['sub']}>
      <Link to="/w/$slug/spend" params={{ slug }}>
        {words.notIncluded(unpriced, unmetered)}
      </Link>
    </p>
  );
}

/** The day's budget as the enforcer has it: what is spent, reserved and left, and when it resets. */
function TodaysBudget({ spent, budget, stale }: { spent: number; budget: number; stale: boolean }) {
  const now = useNow();
  const { slug, timezone } = useWorkspace();
  const limits = useRead('GET /api/v1/limits', { query: {} }, { live: true });
  const limit = limits.data?.items.find(({ scope }) => scope === 'workspace');
  const held = limit?.held_micros ?? 0;
  const posted = limit?.spent_micros ?? spent;
  const left = Math.max(0, budget - posted - held);
  const reset = limits.data === undefined ? null : Date.parse(limits.data.day.end);
  const start = limits.data === undefined ? null : Date.parse(limits.data.day.start);
  const parts = [posted >= budget ? words.usedUp : words.left(money(left), money(held))];
  if (reset !== null) parts.push(words.resets(duration(reset - now)));
  if (start !== null && reset !== null && posted > 0 && posted < budget) {
    const at = now + ((now - start) / posted) * (budget - posted);
    if (at < reset) parts.push(words.pace(clock(at, timezone)));
  }
  return (
    <>
      <div className={css['meterBox']}>
        <Meter
          spent={posted}
          held={held}
          budget={budget}
          label={words.used(percent(posted / Math.max(1, budget)), money(held))}
        />
      </div>
      <p className={css['sub']}>
        {parts.join(' · ')} ·{' '}
        <Link to="/w/$slug/limits" params={{ slug }}>
          {words.budgetLink}
        </Link>
      </p>
      {stale && <p className={css['sub']}>{words.stale}</p>}
    </>
  );
}

interface ComparisonProps {
  now: number;
  before: number;
  /** Formats a difference that has no percentage. */
  write: (difference: number) => string;
  /** Whether more of it threatens a budget. */
  threatens?: boolean;
}

/** Compares a figure with the same part of the span before. */
function Comparison({ now, before, write, threatens = false }: ComparisonProps) {
  const { range } = useSpan();
  const span = text.common.before[range];
  if (now === before) return <>{`${words.same} ${span}`}</>;
  const by = change(now, before);
  const more = now > before;
  return (
    <>
      <span className={more && threatens ? css['threat'] : undefined}>
        <span aria-hidden="true">{more ? '▲' : '▼'}</span>{' '}
        <span className="heard">{more ? words.up : words.down} </span>
        {by === null ? write(now - before) : percent(Math.abs(by))}
      </span>{' '}
      {span}
    </>
  );
}
