import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Api, useRead } from '../../api/api.ts';
import { useMay, useWorkspace } from '../../app/account.tsx';
import { useSpan } from '../../app/span.ts';
import { exactCount } from '../../format/numbers.ts';
import { budgetName, isPause, whoseBudget } from '../../text/budget-words.ts';
import { text } from '../../text/index.ts';
import { AgentLink } from '../../ui/agent-link.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { At } from '../../ui/figures.tsx';
import { Loaded } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { RaiseButton, type RaisedLimit } from '../raises/raise-dialog.tsx';
import type { BlockedKind } from './blocked-search.ts';
import { useClose } from './use-close.ts';

const words = text.blocked;

/** One blocked call: why, and what would unblock it. */
export function EventDrawer({ kind, eventId }: { kind: BlockedKind; eventId: string }) {
  const close = useClose();
  return (
    <Dialog side title={words.event} onClose={close}>
      {EVENTS[kind](eventId)}
    </Dialog>
  );
}

const EVENTS: Record<BlockedKind, (eventId: string) => ReactNode> = {
  budget: (eventId) => <BudgetEvent eventId={eventId} />,
  guard: (eventId) => <GuardEvent eventId={eventId} />,
};

function BudgetEvent({ eventId }: { eventId: string }) {
  const { query } = useSpan();
  const { slug } = useWorkspace();
  const mayEdit = useMay('owner');
  const details = useRead('GET /api/v1/dashboard/budget-blocked/details', { query: { ...query, event_id: eventId } });
  return (
    <Loaded query={details} height={360}>
      {(data) => {
        if (!('event' in data)) return null;
        const { event } = data;
        const budget = budgetOf(event);
        return (
          <>
            <Explained why={words.budgetWhy(event)} unblock={words.budgetUnblock(event)} />
            {budget !== undefined && (
              <div className={ui['row']}>
                <RaiseButton limit={limitOf(event, budget)} untilMidnight />
                {mayEdit && (
                  <Link to="/w/$slug/budgets" params={{ slug }} search={{ budget }}>
                    {words.toBudget}
                  </Link>
                )}
              </div>
            )}
            <EventFacts event={event} />
          </>
        );
      }}
    </Loaded>
  );
}

type DailyScope = Exclude<Api.Limit['scope'], 'budget'>;

const DAILY_IDS: Record<DailyScope, (event: Api.BudgetBlockedEvent) => string | undefined> = {
  workspace: () => 'bud_workspace',
  agent: ({ agent_id }) => `bud_agent.${agent_id}`,
  plan: ({ plan_key }) => plan_key && `bud_plan.${plan_key}`,
};
const DAILY_ID_OF = new Map(Object.entries(DAILY_IDS));

/** The budget that blocked the call, if one did. Older producers name only the scope of a daily one. */
function budgetOf(event: Api.BudgetBlockedEvent): string | undefined {
  if (isPause(event)) return undefined;
  return event.budget_id ?? DAILY_ID_OF.get(event.scope)?.(event);
}

function limitOf(event: Api.BudgetBlockedEvent, budgetId: string): RaisedLimit {
  return { budgetId, name: budgetName(event) ?? whoseBudget(event), value: event.value };
}

function GuardEvent({ eventId }: { eventId: string }) {
  const { query } = useSpan();
  const details = useRead('GET /api/v1/dashboard/guard-blocked/details', { query: { ...query, event_id: eventId } });
  return (
    <Loaded query={details} height={360}>
      {(data) =>
        'event' in data ? (
          <>
            <Explained why={`${data.event.guard}: ${data.event.reason}`} unblock={words.guardUnblock} />
            <EventFacts event={data.event} />
          </>
        ) : null
      }
    </Loaded>
  );
}

function Explained({ why, unblock }: { why: string; unblock: string }) {
  return (
    <div className={ui['stack']}>
      <section>
        <h3>{words.why}</h3>
        <p>{why}</p>
      </section>
      <section>
        <h3>{words.unblock}</h3>
        <p>{unblock}</p>
      </section>
    </div>
  );
}

function EventFacts({ event }: { event: Api.BudgetBlockedEvent | Api.GuardBlockedEvent }) {
  const plan = 'plan_key' in event ? event.plan_key : undefined;
  const period = 'period' in event ? event.period : undefined;
  const calls = 'count' in event ? (event.count ?? 1) : 1;
  return (
    <Facts
      facts={[
        [words.fact.when, <At key="at" at={event.occurred_at} />],
        [words.fact.agent, <AgentLink key="agent" id={event.agent_id} />],
        [words.fact.plan, plan],
        [words.fact.budget, 'scope' in event ? budgetName(event) : undefined],
        [words.fact.period, period && <Period key="period" period={period} />],
        [words.fact.calls, calls > 1 ? exactCount(calls) : undefined],
        [words.fact.run, <Run key="run" id={event.run_id} />],
        [words.fact.event, <Id key="event" name="event" id={event.event_id} />],
        [words.fact.source, event.source],
      ]}
    />
  );
}

function Period({ period: { start, end } }: { period: { start: string; end: string } }) {
  return (
    <>
      <At at={start} /> – <At at={end} />
    </>
  );
}

/** Opens the whole run in another drawer. */
function Run({ id }: { id: string }) {
  return (
    <>
      <Link
        from="/w/$slug/blocked"
        to="."
        search={({ event: _event, ...rest }) => ({ ...rest, run: id })}
        resetScroll={false}
        className={ui['id']}
      >
        {id}
      </Link>{' '}
      <CopyButton value={id} label={words.copyId('run')} />
    </>
  );
}

export function Id({ name, id }: { name: string; id: string }) {
  return (
    <>
      <span className={ui['id']}>{id}</span> <CopyButton value={id} label={words.copyId(name)} />
    </>
  );
}
