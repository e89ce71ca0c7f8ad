import { type Api, useRead } from '../../api/api.ts';
import { actionName, audit as words, valueText } from '../../text/audit.ts';
import type { Column } from '../../ui/cells.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { At } from '../../ui/figures.tsx';
import { Loaded } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import ui from '../../ui/ui.module.css';
import { useAuditSearch } from './use-audit-search.ts';

type Change = Api.AuditRecord['changes'][number];

/** One record: who did what, and the values before and after. */
export function RecordDrawer({ recordId }: { recordId: string }) {
  const [, set] = useAuditSearch();
  const record = useRead('GET /api/v1/audit/{record_id}', { path: { record_id: recordId } });
  return (
    <Dialog side title={words.record} onClose={() => set({ record: undefined })}>
      <Loaded query={record} height={420}>
        {(data) => (
          <div className={ui['stack']}>
            <Facts
              facts={[
                [words.fact.when, <At key="at" at={data.occurred_at} />],
                [words.fact.who, <Named key="who" of={data.actor} />],
                [words.fact.what, actionName(data.action)],
                [words.fact.target, <Named key="of" of={data.target} />],
                [words.fact.address, data.address],
                [words.fact.agent, data.user_agent],
                [
                  words.fact.request,
                  data.request_id && <Id key="request" name={words.fact.request} id={data.request_id} />,
                ],
                [words.fact.sequence, String(data.sequence)],
                [words.fact.hash, <Id key="hash" name={words.fact.hash} id={data.hash} />],
              ]}
            />
            <section>
              <h3>{words.changes}</h3>
              <Changes changes={data.changes} />
            </section>
          </div>
        )}
      </Loaded>
    </Dialog>
  );
}

function Changes({ changes }: { changes: readonly Change[] }) {
  if (changes.length === 0) return <p>{words.noChanges}</p>;
  const columns: Column<Change>[] = [
    { key: 'field', head: words.change.field, cell: ({ field }) => <span className={ui['id']}>{field}</span> },
    { key: 'from', head: words.change.from, cell: ({ from }) => valueText(from) },
    { key: 'to', head: words.change.to, cell: ({ to }) => valueText(to) },
  ];
  return <Table label={words.changes} columns={columns} rows={changes} rowKey={({ field }) => field} />;
}

function Named({ of }: { of: { type: string; id: string; name: string } }) {
  return (
    <>
      {of.name} <span className={ui['id']}>{of.id}</span>
    </>
  );
}

function Id({ name, id }: { name: string; id: string }) {
  return (
    <>
      <span className={ui['id']}>{id}</span> <CopyButton value={id} label={words.copy(name)} />
    </>
  );
}
