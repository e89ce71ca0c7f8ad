import { type Api, useRead, useRefetch } from '../../api/api.ts';
import { useMay } from '../../app/account.tsx';
import { connect as words } from '../../text/connect.ts';
import type { Sender } from '../../text/sender.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/cells.tsx';
import { Ago } from '../../ui/figures.tsx';
import { Card, CardTools, Loaded, Note, Tag, type Tone } from '../../ui/parts.tsx';
import { Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import css from './connect.module.css';
import { newTrialCall, sendTrial, TRIAL_AGENT, type TrialReport } from './trial.ts';

const OPERATION = 'GET /api/v1/intake-reports';

interface ArrivalsProps {
  sender: Sender;
  /** The key that was created on this page. If there is one, only its reports are shown. */
  created: Api.CreatedWorkspaceKey | null;
}

/** Waits for the first call, and shows what was understood of the last reports. */
export function Arrivals({ sender, created }: ArrivalsProps) {
  const reports = useRead(OPERATION, {}, { live: 'soon' });
  const shown = reports.data?.items.filter(({ key_id }) => created === null || key_id === created.id) ?? [];
  return (
    <Card title={words.arrivals.title}>
      <div className={css['arrivals']}>
        <p role="status">
          <FirstCall reports={shown} />
        </p>
        {/* Its own button for each sender: one that still waits would swallow the press for the next. */}
        <Trial key={sender.id} sender={sender} apiKey={created?.api_key} />
        <Loaded query={reports} height={120}>
          {() =>
            shown.length === 0 ? (
              <Note title={words.arrivals.none.title}>{words.arrivals.none.text}</Note>
            ) : (
              <>
                {/* Each call has a table of its facts, which nobody wants as files. */}
                <CardTools value={null}>
                  <ol className={css['reports']} aria-label={words.arrivals.list}>
                    {shown.map((report, index) => (
                      <Report key={report.id} report={report} sender={sender} isFirst={index === shown.length - 1} />
                    ))}
                  </ol>
                </CardTools>
                <p className={css['busy']}>{words.arrivals.busy}</p>
              </>
            )
          }
        </Loaded>
      </div>
    </Card>
  );
}

function FirstCall({ reports }: { reports: readonly Api.IntakeReport[] }) {
  const call = reports.flatMap(({ first_calls }) => first_calls).at(-1);
  if (call !== undefined) {
    return (
      <>
        <Tag tone="ok">{words.arrivals.seen}</Tag> {words.arrivals.from(call.agent_id)}
      </>
    );
  }
  return reports.length === 0 ? words.arrivals.waiting : words.arrivals.withoutCalls;
}

function Trial({ sender, apiKey }: { sender: Sender; apiKey: string | undefined }) {
  const mayCreate = useMay('owner');
  const refetch = useRefetch();
  const { trial } = sender;
  if (trial === null) return <p>{sender.withoutCalls}</p>;
  if (apiKey === undefined) return mayCreate && <p>{words.trial.needsKey}</p>;

  async function send(report: TrialReport, key: string): Promise<void> {
    try {
      const status = await sendTrial(report, key);
      toast(status === 200 ? words.trial.sent : words.trial.failed(status));
      await refetch([OPERATION]);
    } catch {
      toast(words.trial.lost);
    }
  }

  return (
    <div className={css['trial']}>
      <Button onClick={() => send(trial(newTrialCall()), apiKey)}>{words.trial.send}</Button>
      <p>{words.trial.about(sender.name, TRIAL_AGENT)}</p>
    </div>
  );
}

interface ReportProps {
  report: Api.IntakeReport;
  sender: Sender;
  /** The first that arrived. Its facts are open; later ones stay as they are, so that nothing closes under a reader. */
  isFirst: boolean;
}

function Report({ report, sender, isFirst }: ReportProps) {
  const { received_at, path, records, calls, first_calls, not_calls, refusal } = report;
  return (
    <li>
      <div className={css['report']}>
        <code>{path}</code>
        <span>{words.arrivals.size(records, calls)}</span>
        <Ago at={received_at} />
      </div>
      {refusal !== null && (
        <p>
          <Tag tone="bad">{words.arrivals.refused}</Tag> {refusal}
        </p>
      )}
      {first_calls.map((call, index) => (
        <Call key={index} call={call} isOpen={isFirst && index === 0} />
      ))}
      {calls > first_calls.length && <p>{words.arrivals.more(calls - first_calls.length)}</p>}
      <ul className={css['notes']}>
        {not_calls.map(({ reason, records: of }) => (
          <li key={reason}>{words.arrivals.noCall(of, reason)}</li>
        ))}
        {calls === 0 && refusal === null && <li>{sender.withoutCalls}</li>}
      </ul>
    </li>
  );
}

const TONES: Record<Api.ReportedCall['outcome'], Tone> = {
  settled: 'ok',
  unpriced: 'warn',
  no_usage: 'warn',
  client_gone: 'warn',
  failed: 'calm',
};

type Fact = Api.ReportedCall['facts'][number];

const COLUMNS: Column<Fact>[] = [
  {
    key: 'fact',
    head: words.arrivals.fact,
    cell: ({ fact }) => <span className={ui['word']}>{words.facts[fact] ?? fact.replaceAll('_', ' ')}</span>,
  },
  { key: 'name', head: words.arrivals.readFrom, cell: ({ name }) => <code className={css['break']}>{name}</code> },
  { key: 'value', head: words.arrivals.value, cell: ({ value }) => <code className={css['break']}>{value}</code> },
];

function Call({ call, isOpen }: { call: Api.ReportedCall; isOpen: boolean }) {
  const { outcome, agent_id, amount_micros, priced_by, facts } = call;
  return (
    <details open={isOpen}>
      <summary>
        <Tag tone={TONES[outcome]}>{words.outcomes[outcome]}</Tag> {words.call(agent_id, amount_micros)}
      </summary>
      <p>{words.why[outcome](priced_by)}</p>
      <Table label={words.arrivals.table(agent_id)} columns={COLUMNS} rows={facts} rowKey={({ fact }) => fact} />
    </details>
  );
}
