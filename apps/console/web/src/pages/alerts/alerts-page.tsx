import { type Api, useRead } from '../../api/api.ts';
import { useMayRead } from '../../app/account.tsx';
import { useSpan } from '../../app/span.ts';
import { exactCount } from '../../format/numbers.ts';
import { startOfDay } from '../../format/zoned.ts';
import { deliveryStatus } from '../../text/alerts.ts';
import { text } from '../../text/index.ts';
import { silences } from '../../text/silences.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/cells.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Ago } from '../../ui/figures.tsx';
import { Card, Loaded, NotAllowed, Note, PageHead } from '../../ui/parts.tsx';
import { AlertStatus, Severity } from '../../ui/severity.tsx';
import { Table } from '../../ui/table.tsx';
import ui from '../../ui/ui.module.css';
import { useAlertLine } from '../../ui/use-alert-line.ts';
import { SilenceList } from '../silences/silence-list.tsx';
import { AlertDrawer } from './alert-drawer.tsx';
import { SEVERITIES, STATUSES } from './alerts-search.ts';
import { useAlertsSearch } from './use-alerts-search.ts';

const words = text.alerts;
const PAGE = 50;

export function AlertsPage() {
  const mayRead = useMayRead('admin');
  const [{ alert }] = useAlertsSearch();
  return (
    <>
      <PageHead title={words.title} line={words.line} />
      {mayRead ? (
        <Alerts />
      ) : (
        <Card>
          <NotAllowed needed="admin" />
        </Card>
      )}
      {mayRead && alert !== undefined && <AlertDrawer alertId={alert} />}
    </>
  );
}

/** The alerts wait for what is above them, so that they do not move. */
function Alerts() {
  const silences = useRead('GET /api/v1/alerts/silences', {}, { live: true });
  const windows = useRead('GET /api/v1/alerts/maintenance-windows', {});
  return (
    <Loaded query={silences} with={[windows]} height={600}>
      {({ items }) => (
        <>
          <SilenceList silences={items} windows={windows.data?.items ?? []} />
          <Card>
            <History />
          </Card>
        </>
      )}
    </Loaded>
  );
}

function History() {
  const { zone } = useSpan();
  const [{ severity, status, rule, from, to, offset = 0 }, set] = useAlertsSearch();
  const query = {
    limit: PAGE,
    offset,
    ...(severity !== undefined && { severity }),
    ...(status !== undefined && { status }),
    ...(rule !== undefined && { rule_id: rule }),
    ...(from !== undefined && { from: startOfDay(from, zone) }),
    ...(to !== undefined && { to: startOfDay(to, zone, true) }),
  };
  const alerts = useRead('GET /api/v1/alerts', { query }, { live: true });
  const alertLine = useAlertLine();
  const columns: Column<Api.Alert>[] = [
    { key: 'severity', head: words.column.severity, cell: (row) => <Severity severity={row.severity} /> },
    {
      key: 'alert',
      head: words.column.alert,
      cell: (row) => (
        <>
          <button type="button" className={ui['linkButton']} onClick={() => set({ alert: row.id })}>
            {row.rule_name}
          </button>
          <div className={ui['hint']}>{alertLine(row)}</div>
        </>
      ),
    },
    {
      key: 'status',
      head: words.column.status,
      cell: (row) => <Status alert={row} />,
    },
    {
      key: 'delivery',
      head: words.column.delivery,
      wide: true,
      cell: ({ deliveries }) =>
        deliveries.length === 0
          ? text.common.none
          : [...new Set(deliveries.map(({ status }) => deliveryStatus(status)))].join(', '),
    },
    { key: 'when', head: words.column.when, align: 'right', cell: (row) => <Ago at={row.triggered_at} /> },
  ];
  return (
    <>
      <Filters />
      <Loaded query={alerts} height={480}>
        {({ items, total }) =>
          items.length === 0 ? (
            <Note title={words.none.title}>
              <span>{offset > 0 ? words.none.pastEnd : words.none.text}</span>
              {offset > 0 && <Button onClick={() => set({ offset: undefined })}>{words.newest}</Button>}
            </Note>
          ) : (
            <div className={ui['stack']}>
              <Table label={words.title} columns={columns} rows={items} rowKey={({ id }) => id} />
              <div className={ui['row']}>
                {total > PAGE && (
                  <Button
                    disabled={offset === 0}
                    onClick={() => set({ offset: Math.max(0, offset - PAGE) || undefined })}
                  >
                    {words.newer}
                  </Button>
                )}
                <span className={ui['hint']}>{words.page(offset + 1, offset + items.length, exactCount(total))}</span>
                {total > PAGE && (
                  <Button disabled={offset + items.length >= total} onClick={() => set({ offset: offset + PAGE })}>
                    {words.older}
                  </Button>
                )}
              </div>
            </div>
          )
        }
      </Loaded>
    </>
  );
}

function Status({ alert: { status, silenced_by } }: { alert: Api.Alert }) {
  return (
    <>
      <AlertStatus status={status} />
      {silenced_by !== undefined && <div className={ui['hint']}>{silences.silenced}</div>}
    </>
  );
}

function Filters() {
  const [{ severity, status, rule, from, to }, set] = useAlertsSearch();
  const rules = useRead('GET /api/v1/alerts/rules', {});
  const filtered = [severity, status, rule, from, to].some((each) => each !== undefined);
  return (
    <div className={ui['filters']}>
      <SelectField
        label={words.filter.status}
        value={status ?? ''}
        onChange={({ target }) => set({ status: STATUSES.find((each) => each === target.value) })}
      >
        <option value="">{words.filter.any}</option>
        {STATUSES.map((each) => (
          <option key={each} value={each}>
            {words.status[each]}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={words.filter.severity}
        value={severity ?? ''}
        onChange={({ target }) => set({ severity: SEVERITIES.find((each) => each === target.value) })}
      >
        <option value="">{words.filter.any}</option>
        {SEVERITIES.map((each) => (
          <option key={each} value={each}>
            {words.severity[each]}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={words.filter.rule}
        value={rule ?? ''}
        onChange={({ target }) => set({ rule: target.value === '' ? undefined : target.value })}
      >
        <option value="">{words.filter.any}</option>
        {rules.data?.items.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <TextField
        label={words.filter.from}
        type="date"
        value={from ?? ''}
        onChange={({ target }) => set({ from: target.value || undefined })}
      />
      <TextField
        label={words.filter.to}
        type="date"
        value={to ?? ''}
        onChange={({ target }) => set({ to: target.value || undefined })}
      />
      {filtered && (
        <Button
          look="quiet"
          onClick={() =>
            set({ severity: undefined, status: undefined, rule: undefined, from: undefined, to: undefined })
          }
        >
          {words.filter.clear}
        </Button>
      )}
    </div>
  );
}
