import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Api, useChange, useRead } from '../../api/api.ts';
import { useMay, useWorkspace } from '../../app/account.tsx';
import { deliveryStatus, evaluationLine } from '../../text/alerts.ts';
import { text } from '../../text/index.ts';
import { silences } from '../../text/silences.ts';
import { AgentLink } from '../../ui/agent-link.tsx';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Ago, At } from '../../ui/figures.tsx';
import { Loaded, Tag, type Tone } from '../../ui/parts.tsx';
import { AlertStatus, Severity } from '../../ui/severity.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import { useAlertLine } from '../../ui/use-alert-line.ts';
import { usePauses } from '../pauses/agent-pause.tsx';
import { MutedBy, SilenceButton } from '../silences/silenced.tsx';
import { NextSteps } from './next-steps.tsx';
import { useAlertsSearch } from './use-alerts-search.ts';

const words = text.alerts;
const READS = ['GET /api/v1/alerts', 'GET /api/v1/alerts/{alert_id}'] as const;

/** One alert: what happened, which channels were notified, and why it fired. */
export function AlertDrawer({ alertId }: { alertId: string }) {
  const [{ step }, set] = useAlertsSearch();
  const alertLine = useAlertLine();
  const alert = useRead('GET /api/v1/alerts/{alert_id}', { path: { alert_id: alertId } }, { live: true });
  const pauses = usePauses();
  return (
    <Dialog
      side
      title={alert.data?.rule_name ?? words.detail}
      onClose={() => set({ alert: undefined, step: undefined })}
    >
      <Loaded query={alert} with={pauses.isError ? [] : [pauses]} height={480}>
        {(data) => (
          <div className={ui['stack']}>
            <div className={ui['row']}>
              <Severity severity={data.severity} /> <AlertStatus status={data.status} />
            </div>
            <p>{alertLine(data)}</p>
            <MutedBy label={silences.silenced} by={data.silenced_by} />
            <NextSteps alert={data} step={step} />
            <Actions alert={data} />
            <AlertFacts alert={data} />
            <Deliveries deliveries={data.deliveries} />
            <Evaluations ruleId={data.rule_id} />
          </div>
        )}
      </Loaded>
    </Dialog>
  );
}

function Actions({ alert }: { alert: Api.Alert }) {
  const acknowledge = useChange('POST /api/v1/alerts/{alert_id}:acknowledge', READS);
  const resolve = useChange('POST /api/v1/alerts/{alert_id}:resolve', READS);
  const path = { alert_id: alert.id };
  if (!useMay('admin') || alert.status === 'resolved') return null;
  return (
    <div className={ui['row']}>
      <Problem error={acknowledge.error ?? resolve.error} />
      <SilenceButton alert={alert} />
      {alert.status === 'firing' && (
        <Button
          busy={acknowledge.isPending && words.acknowledge}
          onClick={() => acknowledge.mutate({ path }, { onSuccess: () => toast(words.acknowledged) })}
        >
          {words.acknowledge}
        </Button>
      )}
      <Button
        look="primary"
        busy={resolve.isPending && words.resolve}
        onClick={() => resolve.mutate({ path }, { onSuccess: () => toast(words.resolved) })}
      >
        {words.resolve}
      </Button>
    </div>
  );
}

const SUBJECT: Record<Api.Alert['scope_type'], (id: string) => ReactNode> = {
  workspace: () => words.fact.workspace,
  tenant: () => words.fact.workspace,
  agent: (id) => <AgentLink key="of" id={id} />,
};

function AlertFacts({ alert }: { alert: Api.Alert }) {
  const { slug } = useWorkspace();
  const { scope_type, scope_id, acknowledged_at, acknowledged_by, resolved_at, sample_event_ids } = alert;
  const usedUpAt = alert.forecast?.used_up_at ?? null;
  return (
    <Facts
      facts={[
        [
          words.fact.rule,
          <Link key="rule" to="/w/$slug/rules" params={{ slug }}>
            {alert.rule_name}
          </Link>,
        ],
        [words.fact.scope, SUBJECT[scope_type](scope_id)],
        [
          words.fact.window,
          <span key="window">
            <At at={alert.window.start} /> – <At at={alert.window.end} />
          </span>,
        ],
        [words.fact.triggered, <At key="fired" at={alert.triggered_at} />],
        [words.fact.usedUp, usedUpAt === null ? undefined : <At key="used-up" at={usedUpAt} />],
        [
          words.fact.acknowledged,
          acknowledged_at === null ? undefined : (
            <span key="ack">
              <At at={acknowledged_at} /> {acknowledged_by !== null && words.fact.by(acknowledged_by)}
            </span>
          ),
        ],
        [words.fact.resolved, resolved_at === null ? undefined : <At key="resolved" at={resolved_at} />],
        [
          words.fact.samples,
          <span key="samples" className={ui['id']}>
            {sample_event_ids.slice(0, 5).join(', ')}
          </span>,
        ],
      ]}
    />
  );
}

const DELIVERY_TONES: Record<string, Tone> = { delivered: 'ok', failed: 'bad', retrying: 'warn' };

function Deliveries({ deliveries }: { deliveries: Api.AlertDelivery[] }) {
  const channels = useRead('GET /api/v1/alerts/channels', {});
  const nameOf = (id: string) => channels.data?.items.find((each) => each.id === id)?.name ?? id;
  return (
    <section>
      <h3>{words.deliveries}</h3>
      {deliveries.length === 0 && <p className={ui['hint']}>{words.noDeliveries}</p>}
      <ol className={ui['steps']}>
        {deliveries.map((each) => (
          <li key={`${each.type} ${each.channel_id}`}>
            <Tag tone={DELIVERY_TONES[each.status] ?? 'calm'}>{deliveryStatus(each.status)}</Tag>{' '}
            <strong>{nameOf(each.channel_id)}</strong> {words.delivery[each.type]} ·{' '}
            {words.delivery.attempts(each.attempts)}
            {each.response_status !== null && ` · ${words.delivery.answered(each.response_status)}`}
            {each.group !== undefined && each.group.alerts > 1 && ` · ${words.delivery.group(each.group.alerts)}`}
            {each.last_attempt_at !== null && (
              <>
                {' '}
                · <At at={each.last_attempt_at} />
              </>
            )}
            {each.next_attempt_at !== null && each.status !== 'delivered' && (
              <>
                {' '}
                · {each.status === 'collected' ? words.delivery.goesOut : words.delivery.next}{' '}
                <Ago at={each.next_attempt_at} />
              </>
            )}
            <div className={ui['hint']}>
              <MutedBy label={silences.heldBack} by={each.held} />
            </div>
            {each.error !== null && <div className={ui['problem']}>{each.error}</div>}
            {each.response_snippet !== null && each.response_snippet !== '' && (
              <div className={ui['hint']}>{each.response_snippet}</div>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Evaluations({ ruleId }: { ruleId: string }) {
  const list = useRead('GET /api/v1/alerts/rules/{rule_id}/evaluations', { path: { rule_id: ruleId } });
  return (
    <section>
      <h3>{words.evaluations}</h3>
      <Loaded query={list} height={120}>
        {({ items }) =>
          items.length === 0 ? (
            <p className={ui['hint']}>{words.noEvaluations}</p>
          ) : (
            <ol className={ui['steps']}>
              {items.slice(0, 20).map((each) => (
                <li key={`${each.event_id} ${each.evaluated_at}`}>
                  <At at={each.event_time} /> {words.evaluation[each.reason]}{' '}
                  <span className={ui['hint']}>{evaluationLine(each)}</span>
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
    </section>
  );
}
