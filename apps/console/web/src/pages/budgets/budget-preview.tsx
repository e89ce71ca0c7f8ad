import { useEffect, useState } from 'react';
import { type Api, TollkeeperError, useRead } from '../../api/api.ts';
import { budgetPreview as words } from '../../text/budget-preview.ts';
import { text } from '../../text/index.ts';
import { AgentLink } from '../../ui/agent-link.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/cells.tsx';
import { explain } from '../../ui/explain.ts';
import { At, Money } from '../../ui/figures.tsx';
import { LabelTags } from '../../ui/labels.tsx';
import { Table } from '../../ui/table.tsx';
import ui from '../../ui/ui.module.css';

/** Pause in typing after which a preview is read. */
const SETTLED_MS = 400;
/** Values that are named in the line. */
const NAMED = 3;

type Call = Api.BudgetPreview['exceeding'][number];

/** Which calls of the last days a budget would have blocked. Null until enough of it is known. */
export function BudgetPreview({ terms }: { terms: Api.BudgetTerms | null }) {
  const typed = JSON.stringify(terms);
  const settled = useSettled(typed);
  const body = JSON.parse(settled) as Api.BudgetTerms | null;
  return (
    <section className={ui['preview']} aria-label={words.label}>
      {terms === null || body === null ? (
        <p role="status">{terms === null ? words.missing : words.loading}</p>
      ) : (
        <PreviewOf terms={body} isOld={typed !== settled} />
      )}
    </section>
  );
}

/** The value, once it has not changed for a while. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

function PreviewOf({ terms, isOld }: { terms: Api.BudgetTerms; isOld: boolean }) {
  const preview = useRead('POST /api/v1/dashboard/budget-preview', { body: terms }, { keepsLast: true });
  const { data, error, isPlaceholderData, refetch } = preview;
  if (error !== null && !isOld) return <NoPreview error={error} retry={() => void refetch()} />;
  if (data === undefined) return <p role="status">{words.loading}</p>;
  return (
    <div aria-busy={isOld || isPlaceholderData}>
      <Preview action={terms.action ?? 'deny'} preview={data} />
    </div>
  );
}

function NoPreview({ error, retry }: { error: Error; retry: () => void }) {
  // The same fields would be refused again.
  const canPass = !(error instanceof TollkeeperError && error.status === 400);
  return (
    <>
      <p role="status">{words.failed(explain(error).message)}</p>
      {canPass && <Button onClick={retry}>{text.common.failed.retry}</Button>}
    </>
  );
}

function Preview({ action, preview }: { action: Api.Budget['action']; preview: Api.BudgetPreview }) {
  const { window, values, limits, exceeding } = preview;
  return (
    <>
      <p role="status">{words.sentence(action, preview)}</p>
      {preview.is_partial && <p>{words.partial(preview.read_until, window.timezone)}</p>}
      {preview.misses_earlier_spend && <p>{words.misses(preview.counted_from, window.timezone)}</p>}
      {values.length > 0 && <p>{words.values(values.slice(0, NAMED), limits)}</p>}
      {exceeding.length > 0 && <Calls calls={exceeding} all={preview.exceeding_calls} zone={window.timezone} />}
    </>
  );
}

interface CallsProps {
  calls: readonly Call[];
  all: number;
  /** The zone of the budget's days. */
  zone: string;
}

function Calls({ calls, all, zone }: CallsProps) {
  const columns: Column<Call>[] = [
    { key: 'time', head: words.column.time, cell: ({ occurred_at }) => <At at={occurred_at} zone={zone} /> },
    {
      key: 'agent',
      head: words.column.agent,
      cell: ({ agent_id, display_name }) => <AgentLink id={agent_id} name={display_name} />,
    },
    { key: 'value', head: words.column.value, cell: ({ value }) => value ?? text.common.none },
    {
      key: 'cost',
      head: words.column.cost,
      align: 'right',
      cell: ({ amount_micros }) => <Money micros={amount_micros} />,
    },
    {
      key: 'spent',
      head: words.column.spent,
      align: 'right',
      wide: true,
      cell: ({ spent_micros }) => <Money micros={spent_micros} />,
    },
    { key: 'model', head: words.column.model, wide: true, cell: ({ model }) => model ?? text.common.none },
    { key: 'plan', head: words.column.plan, wide: true, cell: ({ plan_key }) => plan_key ?? text.common.none },
    { key: 'labels', head: text.labels.title, wide: true, cell: ({ labels }) => <LabelTags labels={labels} /> },
  ];
  return (
    <details>
      <summary>{words.show(calls.length, all)}</summary>
      <Table
        label={words.table}
        columns={calls.some(({ value }) => value !== null) ? columns : columns.filter(({ key }) => key !== 'value')}
        rows={calls}
        rowKey={({ settlement_id }) => settlement_id}
      />
    </details>
  );
}
