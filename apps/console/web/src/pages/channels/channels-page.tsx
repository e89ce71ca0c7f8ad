import { useState } from 'react';
import { type Api, useChange, useRead } from '../../api/api.ts';
import { useMay, useMayRead } from '../../app/account.tsx';
import { channels as words } from '../../text/channels.ts';
import { text } from '../../text/index.ts';
import { Button, OpenButton } from '../../ui/button.tsx';
import type { Column } from '../../ui/cells.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Card, Loaded, NotAllowed, Note, PageHead, Tag } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import { ChannelDialog } from './channel-dialog.tsx';
import { destinationOf } from './channel-types.ts';
import { Confirmations } from './confirmations.tsx';
import { TestDialog } from './test-dialog.tsx';

const READS = ['GET /api/v1/alerts/channels', 'GET /api/v1/alerts/rules'] as const;

export function ChannelsPage() {
  const mayEdit = useMay('admin');
  const [open, setOpen] = useState<Api.AlertChannel | 'new' | null>(null);
  return (
    <>
      <PageHead title={words.title} line={words.line}>
        {mayEdit && (
          <Button look="primary" onClick={() => setOpen('new')}>
            {words.create}
          </Button>
        )}
      </PageHead>
      <Card>{useMayRead('admin') ? <ChannelTable onEdit={setOpen} /> : <NotAllowed needed="admin" />}</Card>
      {open !== null && <ChannelDialog channel={open === 'new' ? null : open} onClose={() => setOpen(null)} />}
    </>
  );
}

function ChannelTable({ onEdit }: { onEdit: (channel: Api.AlertChannel) => void }) {
  const mayEdit = useMay('admin');
  const [removing, setRemoving] = useState<Api.AlertChannel | null>(null);
  const [testing, setTesting] = useState<Api.AlertChannel | null>(null);
  const channels = useRead('GET /api/v1/alerts/channels', {}, { live: true });
  const setEnabled = useSetEnabled();

  const columns: Column<Api.AlertChannel>[] = [
    {
      key: 'name',
      head: words.column.name,
      cell: (channel) => <OpenButton onOpen={mayEdit ? () => onEdit(channel) : null}>{nameOf(channel)}</OpenButton>,
    },
    {
      key: 'type',
      head: words.column.type,
      wide: true,
      cell: ({ channel_type }) => <span className={ui['word']}>{words.types[channel_type]}</span>,
    },
    {
      key: 'where',
      head: words.column.where,
      wide: true,
      cell: (channel) => {
        const { url, isSigned, confirmations } = destinationOf(channel);
        if (confirmations !== undefined) return <Confirmations channel={channel} />;
        const signing = isSigned === undefined ? '' : ` (${isSigned ? words.signed : words.unsigned})`;
        return <span className={ui['id']}>{url + signing}</span>;
      },
    },
    {
      key: 'state',
      head: words.column.state,
      cell: ({ enabled }) => <Tag tone={enabled ? 'ok' : 'calm'}>{enabled ? words.enabled : words.disabled}</Tag>,
    },
    {
      key: 'action',
      head: <span className="heard">{words.column.action}</span>,
      align: 'right',
      cell: (channel) =>
        mayEdit && (
          <>
            <Button look="quiet" onClick={() => setTesting(channel)}>
              {words.test}
            </Button>
            <Button look="quiet" onClick={() => setEnabled(channel, !channel.enabled)}>
              {channel.enabled ? words.turnOff : words.turnOn}
            </Button>
            <Button look="quiet" aria-label={words.removeTitle(nameOf(channel))} onClick={() => setRemoving(channel)}>
              {text.common.action.remove}
            </Button>
          </>
        ),
    },
  ];
  return (
    <Loaded query={channels} height={240}>
      {({ items }) => (
        <>
          {items.length === 0 ? (
            <Note title={words.none.title}>{words.none.text}</Note>
          ) : (
            <Table label={words.title} columns={columns} rows={items} rowKey={({ id }) => id} />
          )}
          {testing !== null && <TestDialog channel={testing} name={nameOf(testing)} onClose={() => setTesting(null)} />}
          {removing !== null && <RemoveChannel channel={removing} onClose={() => setRemoving(null)} />}
        </>
      )}
    </Loaded>
  );
}

function nameOf(channel: Api.AlertChannel): string {
  return channel.name ?? words.unnamed;
}

function useSetEnabled() {
  const edit = useChange('PATCH /api/v1/alerts/channels/{channel_id}', READS);

  function setEnabled(channel: Api.AlertChannel, enabled: boolean): Promise<void> {
    const name = nameOf(channel);
    // mutateAsync, so that each of two quick changes gets its own answer.
    return edit.mutateAsync({ path: { channel_id: channel.id }, body: { enabled } }).then(
      () =>
        toast(enabled ? words.turnedOn(name) : words.turnedOff(name), {
          undo: () => void setEnabled(channel, !enabled),
        }),
      toastFailure,
    );
  }
  return setEnabled;
}

function RemoveChannel({ channel, onClose }: { channel: Api.AlertChannel; onClose: () => void }) {
  const remove = useChange('DELETE /api/v1/alerts/channels/{channel_id}', READS);
  const name = nameOf(channel);
  return (
    <Confirm
      title={words.removeTitle(name)}
      action={text.common.action.remove}
      onClose={onClose}
      onConfirm={async () => {
        await remove.mutateAsync({ path: { channel_id: channel.id } });
        toast(words.removed(name));
      }}
    >
      {words.removeText}
    </Confirm>
  );
}
