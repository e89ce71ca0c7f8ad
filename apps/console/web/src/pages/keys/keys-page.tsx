import { useState } from 'react';
import { type Api, useChange, useRead } from '../../api/api.ts';
import { useMay, useMayRead } from '../../app/account.tsx';
import { text } from '../../text/index.ts';
import { keys as words } from '../../text/keys.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/cells.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Ago } from '../../ui/figures.tsx';
import { LabelsDialog, LabelTags } from '../../ui/labels.tsx';
import { Card, Loaded, NotAllowed, Note, PageHead, Tag } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import { NewKeyDialog } from './new-key-dialog.tsx';

const READS = ['GET /api/v1/management/workspace-keys'] as const;

export function KeysPage() {
  const mayEdit = useMay('owner');
  const [making, setMaking] = useState(false);
  return (
    <>
      <PageHead title={words.title} line={words.line}>
        {mayEdit && (
          <Button look="primary" onClick={() => setMaking(true)}>
            {words.create}
          </Button>
        )}
      </PageHead>
      <Card>{useMayRead('owner') ? <KeyTable /> : <NotAllowed needed="owner" />}</Card>
      {making && <NewKeyDialog onClose={() => setMaking(false)} />}
    </>
  );
}

function KeyTable() {
  const mayEdit = useMay('owner');
  const [revoking, setRevoking] = useState<Api.WorkspaceKey | null>(null);
  const [editing, setEditing] = useState<Api.WorkspaceKey | null>(null);
  const keys = useRead('GET /api/v1/management/workspace-keys', {}, { live: true });
  const columns: Column<Api.WorkspaceKey>[] = [
    { key: 'name', head: words.column.name, cell: ({ name }) => <span className={ui['name']}>{name}</span> },
    {
      key: 'role',
      head: words.column.role,
      wide: true,
      cell: ({ role }) => <span className={ui['word']}>{words.roles[role]}</span>,
    },
    {
      key: 'state',
      head: words.column.state,
      cell: ({ revoked_at }) => (
        <Tag tone={revoked_at === null ? 'ok' : 'calm'}>{revoked_at === null ? words.active : words.revoked}</Tag>
      ),
    },
    { key: 'labels', head: words.column.labels, wide: true, cell: ({ labels }) => <LabelTags labels={labels} /> },
    { key: 'created', head: words.column.created, wide: true, cell: ({ created_at }) => <Ago at={created_at} /> },
    {
      key: 'used',
      head: words.column.used,
      cell: ({ last_used_at }) => (last_used_at === null ? words.never : <Ago at={last_used_at} />),
    },
    {
      key: 'action',
      head: <span className="heard">{words.column.action}</span>,
      align: 'right',
      cell: (key) =>
        mayEdit &&
        key.revoked_at === null && (
          <div className={ui['actions']}>
            <Button look="quiet" aria-label={text.labels.editTitle(key.name)} onClick={() => setEditing(key)}>
              {text.labels.edit}
            </Button>
            <Button look="quiet" aria-label={words.revokeTitle(key.name)} onClick={() => setRevoking(key)}>
              {words.revoke}
            </Button>
          </div>
        ),
    },
  ];
  return (
    <Loaded query={keys} height={240}>
      {({ items }) => (
        <>
          {items.length === 0 ? (
            <Note title={words.none.title}>{words.none.text}</Note>
          ) : (
            <Table label={words.title} columns={columns} rows={items} rowKey={({ id }) => id} />
          )}
          {editing !== null && <EditLabels of={editing} onClose={() => setEditing(null)} />}
          {revoking !== null && <Revoke of={revoking} onClose={() => setRevoking(null)} />}
        </>
      )}
    </Loaded>
  );
}

interface KeyDialogProps {
  of: Api.WorkspaceKey;
  onClose: () => void;
}

function EditLabels({ of: { id, name, labels }, onClose }: KeyDialogProps) {
  const change = useChange('PATCH /api/v1/management/workspace-keys/{id}', READS);
  return (
    <LabelsDialog
      name={name}
      labels={labels}
      hint={words.labelsHint}
      save={(next) => change.mutateAsync({ path: { id }, body: { labels: next } })}
      onClose={onClose}
    />
  );
}

function Revoke({ of: { id, name }, onClose }: KeyDialogProps) {
  const revoke = useChange('POST /api/v1/management/workspace-keys/{id}:revoke', READS);
  return (
    <Confirm
      title={words.revokeTitle(name)}
      action={words.revoke}
      onClose={onClose}
      onConfirm={async () => {
        await revoke.mutateAsync({ path: { id } });
        toast(words.revokedNow(name));
      }}
    >
      {words.revokeText}
    </Confirm>
  );
}
