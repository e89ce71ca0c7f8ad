import { type ReactNode, useState } from 'react';
import type { Api } from '../../api/api.ts';
import { useMay } from '../../app/account.tsx';
import { pauses as words, pausedThing, type PausedThing } from '../../text/pauses.ts';
import { AgentLink } from '../../ui/agent-link.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/cells.tsx';
import { At } from '../../ui/figures.tsx';
import { Card } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import ui from '../../ui/ui.module.css';
import { PauseAnyButton } from './pause-dialog.tsx';
import { Resume } from './resume.tsx';

const NAMES: Record<PausedThing, (pause: Api.Pause) => ReactNode> = {
  agent: ({ value }) => <AgentLink id={value} />,
  key: words.nameOf,
  label: words.nameOf,
};

/** What is paused. Owners and admins pause more, and resume it. */
export function PauseList({ items }: { items: Api.Pause[] }) {
  const [resuming, setResuming] = useState<Api.Pause | null>(null);
  const mayPause = useMay('admin');
  const columns: Column<Api.Pause>[] = [
    {
      key: 'what',
      head: words.column.what,
      cell: (row) => NAMES[pausedThing(row.scope) ?? 'label'](row),
    },
    { key: 'reason', head: words.column.reason, wide: true, cell: ({ reason }) => reason },
    { key: 'by', head: words.column.by, wide: true, cell: ({ paused_by }) => paused_by.name },
    { key: 'until', head: words.column.until, align: 'right', cell: ({ until }) => <At at={until} /> },
    ...(mayPause
      ? [
          {
            key: 'action',
            head: <span className="heard">{words.resume}</span>,
            align: 'right' as const,
            cell: (row: Api.Pause) => (
              <Button look="quiet" onClick={() => setResuming(row)}>
                {words.resume}
              </Button>
            ),
          },
        ]
      : []),
  ];
  return (
    <Card title={words.title} link={<PauseAnyButton />}>
      <div className={ui['stack']}>
        <p className={ui['hint']}>{items.length === 0 ? words.none : words.text}</p>
        {items.length > 0 && <Table label={words.title} columns={columns} rows={items} rowKey={({ id }) => id} />}
      </div>
      {resuming !== null && <Resume pause={resuming} name={words.nameOf(resuming)} onClose={() => setResuming(null)} />}
    </Card>
  );
}
