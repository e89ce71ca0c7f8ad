import { useState } from 'react';
import { type Api, useChange, useRead } from '../../api/api.ts';
import { useMay, useMayRead } from '../../app/account.tsx';
import { ruleLine } from '../../text/rules.ts';
import { text } from '../../text/index.ts';
import { rules as words } from '../../text/rules.ts';
import { Button, OpenButton } from '../../ui/button.tsx';
import type { Column } from '../../ui/cells.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Ago } from '../../ui/figures.tsx';
import { Card, Loaded, NotAllowed, Note, PageHead, Tag } from '../../ui/parts.tsx';
import { Severity } from '../../ui/severity.tsx';
import { Table } from '../../ui/table.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import { RuleDialog } from './rule-dialog.tsx';

const READS = ['GET /api/v1/alerts/rules'] as const;

export function RulesPage() {
  const mayEdit = useMay('admin');
  const [open, setOpen] = useState<Api.AlertRule | 'new' | null>(null);
  return (
    <>
      <PageHead title={words.title} line={words.line}>
        {mayEdit && (
          <Button look="primary" onClick={() => setOpen('new')}>
            {words.create}
          </Button>
        )}
      </PageHead>
      <Card>{useMayRead('admin') ? <RuleTable onEdit={setOpen} /> : <NotAllowed needed="admin" />}</Card>
      {open !== null && <RuleDialog rule={open === 'new' ? null : open} onClose={() => setOpen(null)} />}
    </>
  );
}

function RuleTable({ onEdit }: { onEdit: (rule: Api.AlertRule) => void }) {
  const mayEdit = useMay('admin');
  const [removing, setRemoving] = useState<Api.AlertRule | null>(null);
  const rules = useRead('GET /api/v1/alerts/rules', {}, { live: true });
  const channels = useRead('GET /api/v1/alerts/channels', {});
  const setEnabled = useSetEnabled();
  const nameOf = (id: string) => channels.data?.items.find((each) => each.id === id)?.name ?? id;

  const columns: Column<Api.AlertRule>[] = [
    {
      key: 'rule',
      head: words.column.rule,
      cell: (rule) => (
        <>
          <OpenButton onOpen={mayEdit ? () => onEdit(rule) : null}>{rule.name}</OpenButton>
          <div className={ui['hint']}>{ruleLine(rule)}</div>
          {rule.group_seconds !== undefined && <div className={ui['hint']}>{words.grouped(rule.group_seconds)}</div>}
        </>
      ),
    },
    {
      key: 'severity',
      head: words.column.severity,
      wide: true,
      cell: ({ severity }) => <Severity severity={severity} />,
    },
    {
      key: 'state',
      head: words.column.state,
      cell: ({ enabled }) => <Tag tone={enabled ? 'ok' : 'calm'}>{enabled ? words.enabled : words.paused}</Tag>,
    },
    {
      key: 'channels',
      head: words.column.channels,
      wide: true,
      cell: ({ channel_config_ids: ids }) => (ids.length === 0 ? words.noChannel : ids.map(nameOf).join(', ')),
    },
    {
      key: 'fired',
      head: words.column.fired,
      align: 'right',
      wide: true,
      cell: ({ last_fired_at }) => (last_fired_at === null ? words.never : <Ago at={last_fired_at} />),
    },
    {
      key: 'action',
      head: <span className="heard">{words.column.action}</span>,
      align: 'right',
      cell: (rule) =>
        mayEdit && (
          <>
            <Button look="quiet" onClick={() => setEnabled(rule, !rule.enabled)}>
              {rule.enabled ? words.pause : words.resume}
            </Button>
            <Button look="quiet" aria-label={words.removeTitle(rule.name)} onClick={() => setRemoving(rule)}>
              {text.common.action.remove}
            </Button>
          </>
        ),
    },
  ];
  return (
    <Loaded query={rules} with={[channels]} height={320}>
      {({ items }) => (
        <>
          {items.length === 0 ? (
            <Note title={words.none.title}>{words.none.text}</Note>
          ) : (
            <Table label={words.title} columns={columns} rows={items} rowKey={({ id }) => id} />
          )}
          {removing !== null && <RemoveRule rule={removing} onClose={() => setRemoving(null)} />}
        </>
      )}
    </Loaded>
  );
}

function useSetEnabled() {
  const edit = useChange('PATCH /api/v1/alerts/rules/{rule_id}', READS);

  function setEnabled({ id, name }: Api.AlertRule, enabled: boolean): Promise<void> {
    // mutateAsync, so that each of two quick changes gets its own answer.
    return edit
      .mutateAsync({ path: { rule_id: id }, body: { enabled } })
      .then(
        (rule) =>
          toast(enabled ? words.resumed(name) : words.pausedNow(name), { undo: () => void setEnabled(rule, !enabled) }),
        toastFailure,
      );
  }
  return setEnabled;
}

function RemoveRule({ rule, onClose }: { rule: Api.AlertRule; onClose: () => void }) {
  const remove = useChange('DELETE /api/v1/alerts/rules/{rule_id}', READS);
  return (
    <Confirm
      title={words.removeTitle(rule.name)}
      action={text.common.action.remove}
      onClose={onClose}
      onConfirm={async () => {
        await remove.mutateAsync({ path: { rule_id: rule.id } });
        toast(words.removed(rule.name));
      }}
    >
      {words.removeText}
    </Confirm>
  );
}
