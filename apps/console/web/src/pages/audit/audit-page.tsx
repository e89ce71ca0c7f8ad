import { type Api, usePages, useRead } from '../../api/api.ts';
import { useMayRead, useWorkspace } from '../../app/account.tsx';
import { useSpan } from '../../app/span.ts';
import { startOfDay } from '../../format/zoned.ts';
import { actionName, audit as words } from '../../text/audit.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/cells.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Ago } from '../../ui/figures.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import { Card, NotAllowed, Note, PageHead } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { RecordDrawer } from './record-drawer.tsx';
import { useAuditSearch } from './use-audit-search.ts';

const PAGE = 50;

export function AuditPage() {
  const mayRead = useMayRead('owner');
  const [{ record }] = useAuditSearch();
  return (
    <>
      <PageHead title={words.title} line={words.line}>
        {mayRead && <Export />}
      </PageHead>
      <Card>{mayRead ? <Records /> : <NotAllowed needed="owner" />}</Card>
      {mayRead && record !== undefined && <RecordDrawer recordId={record} />}
    </>
  );
}

/** The filters in the URL as input of the API. */
function useFilters() {
  const { zone } = useSpan();
  const [{ actor, action, target, from, to }] = useAuditSearch();
  return {
    ...(actor !== undefined && { actor }),
    ...(action !== undefined && { action }),
    ...(target !== undefined && { target_id: target }),
    ...(from !== undefined && { from: startOfDay(from, zone) }),
    ...(to !== undefined && { to: startOfDay(to, zone, true) }),
  };
}

/** A link, so that the browser saves the stream without holding it in memory. */
function Export() {
  const { slug } = useWorkspace();
  const query = new URLSearchParams({ ...useFilters(), format: 'ndjson' });
  return (
    <a
      className={ui['linkButton']}
      href={`/w/${slug}/api/v1/audit?${query.toString()}`}
      title={words.exportHint}
      download
    >
      {words.exportAll}
    </a>
  );
}

function Records() {
  const [, set] = useAuditSearch();
  const query = { limit: PAGE, ...useFilters() };
  const list = usePages('GET /api/v1/audit', { query });
  const members = useRead('GET /api/v1/members', {});
  const columns: Column<Api.AuditRecord>[] = [
    {
      key: 'what',
      head: words.column.what,
      cell: (row) => (
        <button type="button" className={ui['linkButton']} onClick={() => set({ record: row.id })}>
          {actionName(row.action)}
        </button>
      ),
    },
    {
      key: 'target',
      head: words.column.target,
      wide: true,
      cell: ({ target }) => <span className={ui['text']}>{target.name || target.id}</span>,
    },
    {
      key: 'who',
      head: words.column.who,
      cell: ({ actor }) => <span className={ui['text']}>{actor.name || actor.id}</span>,
    },
    {
      key: 'fields',
      head: words.column.fields,
      wide: true,
      cell: ({ changes }) => changes.map(({ field }) => field).join(', '),
    },
    { key: 'when', head: words.column.when, align: 'right', cell: ({ occurred_at }) => <Ago at={occurred_at} /> },
  ];
  return (
    <>
      <Filters members={members.data?.items ?? []} />
      <PagedTable
        list={list}
        with={[members]}
        height={480}
        none={<Note title={words.none.title}>{words.none.text}</Note>}
        label={words.title}
        columns={columns}
        rowKey={({ id }) => id}
      />
    </>
  );
}

function Filters({ members }: { members: readonly Api.Member[] }) {
  const [{ actor, action, target, from, to }, set] = useAuditSearch();
  const filtered = [actor, action, target, from, to].some((each) => each !== undefined);
  return (
    <div className={ui['filters']}>
      <SelectField
        label={words.filter.actor}
        value={actor ?? ''}
        onChange={(event) => set({ actor: event.target.value || undefined })}
      >
        <option value="">{words.filter.anybody}</option>
        {actor !== undefined && members.every(({ user_id }) => user_id !== actor) && (
          <option value={actor}>{actor}</option>
        )}
        {members.map(({ user_id, name }) => (
          <option key={user_id} value={user_id}>
            {name}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={words.filter.action}
        value={action ?? ''}
        onChange={(event) => set({ action: event.target.value || undefined })}
      >
        <option value="">{words.filter.anything}</option>
        {words.actions.map(([each, name]) => (
          <option key={each} value={each}>
            {name}
          </option>
        ))}
      </SelectField>
      <TextField
        label={words.filter.target}
        value={target ?? ''}
        maxLength={128}
        onChange={(event) => set({ target: event.target.value.trim() || undefined })}
      />
      <TextField
        label={words.filter.from}
        type="date"
        value={from ?? ''}
        onChange={(event) => set({ from: event.target.value || undefined })}
      />
      <TextField
        label={words.filter.to}
        type="date"
        value={to ?? ''}
        onChange={(event) => set({ to: event.target.value || undefined })}
      />
      {filtered && (
        <Button
          look="quiet"
          onClick={() =>
            set({ actor: undefined, action: undefined, target: undefined, from: undefined, to: undefined })
          }
        >
          {words.filter.clear}
        </Button>
      )}
    </div>
  );
}
