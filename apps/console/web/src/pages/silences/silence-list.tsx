import { type ReactNode, useState } from 'react';
import { type Api, useChange } from '../../api/api.ts';
import { useMay } from '../../app/account.tsx';
import { matcherLine, silences as words, timesLine } from '../../text/silences.ts';
import { Button, OpenButton } from '../../ui/button.tsx';
import type { Column } from '../../ui/cells.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { At } from '../../ui/figures.tsx';
import { Card } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import { SILENCE_READS, SilenceDialog } from './silence-dialog.tsx';
import { WindowDialog } from './window-dialog.tsx';

/** What holds messages back: silences that have not ended, and maintenance windows. */
export function SilenceList({ silences, windows }: Omit<RowsProps, 'edit'>) {
  const [isSilencing, setIsSilencing] = useState(false);
  const [edited, setEdited] = useState<Api.MaintenanceWindow | null | undefined>();
  const buttons = useMay('admin') && (
    <span className={ui['row']}>
      <Button onClick={() => setEdited(null)}>{words.addWindow}</Button>
      <Button onClick={() => setIsSilencing(true)}>{words.silence}</Button>
    </span>
  );
  return (
    <Card title={words.title} link={buttons}>
      <Rows silences={silences.filter(({ state }) => state !== 'expired')} windows={windows} edit={setEdited} />
      {isSilencing && <SilenceDialog onClose={() => setIsSilencing(false)} />}
      {edited !== undefined && <WindowDialog window={edited} onClose={() => setEdited(undefined)} />}
    </Card>
  );
}

interface RowsProps {
  silences: Api.AlertSilence[];
  windows: Api.MaintenanceWindow[];
  edit: (window: Api.MaintenanceWindow) => void;
}

interface Row {
  id: string;
  matchers: Api.AlertSilence['matchers'];
  when: ReactNode;
  reason: string;
  by: string;
  actions: ReactNode;
}

function Rows({ silences, windows, edit }: RowsProps) {
  const [ending, setEnding] = useState<Api.AlertSilence | null>(null);
  const [removing, setRemoving] = useState<Api.MaintenanceWindow | null>(null);
  const mayEdit = useMay('admin');
  const rows: Row[] = [
    ...silences.map((each) => ({
      ...{ id: each.id, matchers: each.matchers, reason: each.reason, by: each.created_by.name },
      when: <When silence={each} />,
      actions: (
        <Button look="quiet" onClick={() => setEnding(each)}>
          {words.end}
        </Button>
      ),
    })),
    ...windows.map((each) => ({
      ...{ id: each.id, matchers: each.matchers, reason: each.reason, by: each.created_by.name },
      when: (
        <>
          <OpenButton onOpen={mayEdit ? () => edit(each) : null}>{each.name}</OpenButton>
          <div className={ui['hint']}>{timesLine(each)}</div>
        </>
      ),
      actions: (
        <Button look="quiet" onClick={() => setRemoving(each)}>
          {words.remove}
        </Button>
      ),
    })),
  ];
  const columns: Column<Row>[] = [
    { key: 'alerts', head: words.column.alerts, cell: ({ matchers }) => matcherLine(matchers) },
    { key: 'when', head: words.column.when, cell: ({ when }) => when },
    { key: 'reason', head: words.column.reason, wide: true, cell: ({ reason }) => reason },
    { key: 'by', head: words.column.by, wide: true, cell: ({ by }) => by },
    {
      key: 'action',
      head: <span className="heard">{words.column.action}</span>,
      align: 'right',
      cell: ({ actions }) => mayEdit && actions,
    },
  ];
  return (
    <div className={ui['stack']}>
      <p className={ui['hint']}>{rows.length === 0 ? words.none : words.text}</p>
      {rows.length > 0 && <Table label={words.title} columns={columns} rows={rows} rowKey={({ id }) => id} />}
      {ending !== null && <End silence={ending} onClose={() => setEnding(null)} />}
      {removing !== null && <Remove window={removing} onClose={() => setRemoving(null)} />}
    </div>
  );
}

function When({ silence: { state, starts_at, ends_at } }: { silence: Api.AlertSilence }) {
  return (
    <>
      {state === 'pending' && (
        <>
          {words.state.pending} <At at={starts_at} />{' '}
        </>
      )}
      {words.state.active} <At at={ends_at} />
    </>
  );
}

function End({ silence, onClose }: { silence: Api.AlertSilence; onClose: () => void }) {
  const end = useChange('POST /api/v1/alerts/silences/{silence_id}:end', SILENCE_READS);
  return (
    <Confirm
      title={words.endTitle}
      action={words.end}
      onClose={onClose}
      onConfirm={async () => {
        await end.mutateAsync({ path: { silence_id: silence.id } });
        toast(words.ended);
      }}
    >
      {words.endText}
    </Confirm>
  );
}

function Remove({ window, onClose }: { window: Api.MaintenanceWindow; onClose: () => void }) {
  const remove = useChange('DELETE /api/v1/alerts/maintenance-windows/{window_id}', SILENCE_READS);
  return (
    <Confirm
      title={words.removeTitle(window.name)}
      action={words.remove}
      onClose={onClose}
      onConfirm={async () => {
        await remove.mutateAsync({ path: { window_id: window.id } });
        toast(words.removed(window.name));
      }}
    >
      {words.endText}
    </Confirm>
  );
}
