import type { ReactNode } from 'react';
import { type Api, useRead } from '../../api/api.ts';
import { useSpan } from '../../app/span.ts';
import { money } from '../../format/money.ts';
import { exactCount } from '../../format/numbers.ts';
import { text } from '../../text/index.ts';
import { settlement } from '../../text/settlement.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { At } from '../../ui/figures.tsx';
import { Loaded } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import type { BlockedKind } from './blocked-search.ts';
import { Id } from './event-drawer.tsx';
import { useClose } from './use-close.ts';

const words = text.blocked;

/** A whole run in order: its spend, and where it was blocked. */
export function RunDrawer({ kind, runId }: { kind: BlockedKind; runId: string }) {
  const close = useClose();
  return (
    <Dialog side title={words.run(runId)} onClose={close}>
      <p>
        <Id name="run" id={runId} />
      </p>
      {RUNS[kind](runId)}
    </Dialog>
  );
}

const RUNS: Record<BlockedKind, (runId: string) => ReactNode> = {
  budget: (runId) => <BudgetRun runId={runId} />,
  guard: (runId) => <GuardRun runId={runId} />,
};

function BudgetRun({ runId }: { runId: string }) {
  const { query } = useSpan();
  const run = useRead('GET /api/v1/dashboard/budget-blocked/details', { query: { ...query, run_id: runId } });
  return (
    <Loaded query={run} height={360}>
      {(data) => ('events' in data ? <Steps events={data.events} /> : null)}
    </Loaded>
  );
}

function GuardRun({ runId }: { runId: string }) {
  const { query } = useSpan();
  const run = useRead('GET /api/v1/dashboard/guard-blocked/details', { query: { ...query, run_id: runId } });
  return (
    <Loaded query={run} height={360}>
      {(data) => ('events' in data ? <Steps events={data.events} /> : null)}
    </Loaded>
  );
}

type Step = Api.BudgetBlockedEvent | Api.GuardBlockedEvent | Api.SettlementEvent;

function Steps({ events }: { events: readonly Step[] }) {
  return (
    <section>
      <h3>{words.timeline}</h3>
      <ol className={ui['steps']}>
        {events.map((event) => (
          <li key={event.event_id}>
            <At at={event.occurred_at} /> <span>{whatHappened(event)}</span>
            {'amount_micros' in event && <div className={ui['hint']}>{settlement.details(event)}</div>}
          </li>
        ))}
      </ol>
      {events.length >= 1_000 && <p className={ui['hint']}>{words.cut}</p>}
    </section>
  );
}

function whatHappened(event: Step): string {
  if ('amount_micros' in event) return words.settled(money(event.amount_micros));
  if ('guard' in event) return `${words.guarded(event.guard)}: ${event.reason}`;
  const { requested_micros, count = 1 } = event;
  return `${words.stopped(money(requested_micros))}${count > 1 ? words.times(exactCount(count)) : ''}`;
}
