import { useState } from 'react';
import { type Api, useChange, useRead } from '../../api/api.ts';
import { exactMoney } from '../../format/money.ts';
import { exactCount } from '../../format/numbers.ts';
import { prices } from '../../text/prices.ts';
import type { Column } from '../../ui/cells.tsx';
import { Facts } from '../../ui/facts.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useNow } from '../../ui/now.ts';
import { Note } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import ui from '../../ui/ui.module.css';

const words = prices.reprice;
const DAY_MS = 86_400_000;
const DAYS = 7;
const LISTED = 10;
const READS = ['GET /api/v1/prices:reprice/jobs/{id}'] as const;

type Change = Api.Repricing['by_model'][number];

/** Prices calls again: first says what would change, then corrects it. */
export function RepriceDialog({ onClose }: { onClose: () => void }) {
  const now = useNow();
  const [day, setDay] = useState(() => new Date(now - DAYS * DAY_MS).toISOString().slice(0, 'yyyy-mm-dd'.length));
  const [started, setStarted] = useState<Api.Repricing | null>(null);
  const start = useChange('POST /api/v1/prices:reprice', READS);
  const read = useRead(
    'GET /api/v1/prices:reprice/jobs/{id}',
    { path: { id: started?.id ?? '' } },
    { live: 'soon', enabled: started !== null },
  );
  const job = started && (read.data?.id === started.id ? read.data : started);
  const preview = job?.dry_run === true && job.state === 'done' ? job : null;
  const corrected = job?.dry_run === false && job.state !== 'running' ? job : null;

  async function send(): Promise<void> {
    if (job?.state === 'running') return;
    if (corrected !== null) return onClose();
    const span = preview ?? { from: `${day}T00:00:00Z`, to: new Date(now).toISOString() };
    const { from, to } = span;
    setStarted(await start.mutateAsync({ body: { from, to, dry_run: preview === null } }));
  }

  return (
    <FormDialog title={words.title} action={actionOf(job)} send={send} onClose={onClose} side>
      <p>{words.line}</p>
      <TextField
        label={words.from}
        hint={words.fromHint}
        type="date"
        required
        readOnly={job !== null}
        value={day}
        onChange={({ target }) => setDay(target.value)}
      />
      {job?.state === 'running' && <Progress job={job} />}
      {job?.state === 'failed' && <Note title={words.failed}>{job.problem}</Note>}
      {job?.state === 'done' && <Changes job={job} />}
    </FormDialog>
  );
}

function actionOf(job: Api.Repricing | null): string {
  if (job === null) return words.preview;
  if (job.state === 'running') return words.working;
  return job.dry_run && job.state === 'done' && job.calls > 0 ? words.correct : words.close;
}

function Progress({ job: { progress, problem, dry_run } }: { job: Api.Repricing }) {
  const { calls, expected_calls: expected } = progress;
  return (
    <div role="status" className={ui['stack']}>
      <progress aria-label={words.working} value={calls} max={Math.max(1, expected)} />
      <p>{(dry_run ? words.reading : words.correcting)(exactCount(calls), exactCount(expected))}</p>
      {problem !== null && <p>{problem}</p>}
    </div>
  );
}

function Changes({ job }: { job: Api.Repricing }) {
  if (job.calls === 0) return <Note title={words.nothing.title}>{words.nothing.text}</Note>;
  return (
    <div className={ui['stack']}>
      <p role="status">{(job.dry_run ? words.would : words.did)(job.calls)}</p>
      <Facts
        facts={[
          [words.before, exactMoney(job.from_micros)],
          [words.after, exactMoney(job.to_micros)],
          [words.difference, exactMoney(job.to_micros - job.from_micros)],
        ]}
      />
      <Groups label={words.byModel} rows={job.by_model} />
      <Groups label={words.byDay} rows={job.by_day} />
    </div>
  );
}

function Groups({ label, rows }: { label: string; rows: readonly Change[] }) {
  const columns: Column<Change>[] = [
    { key: 'name', head: label, cell: ({ name }) => name ?? words.others },
    { key: 'from', head: words.before, align: 'right', cell: ({ from_micros: micros }) => exactMoney(micros) },
    { key: 'to', head: words.after, align: 'right', cell: ({ to_micros: micros }) => exactMoney(micros) },
  ];
  return <Table label={label} columns={columns} rows={rows.slice(0, LISTED)} rowKey={({ name }) => name ?? ''} />;
}
