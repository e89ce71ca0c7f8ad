import { Link, linkOptions, Navigate } from '@tanstack/react-router';
import type { Api } from '../../api/api.ts';
import { useWorkspace } from '../../app/account.tsx';
import { withLabel } from '../../app/label-search.ts';
import { useSpan } from '../../app/span.ts';
import type { SpanSearch } from '../../app/span-search.ts';
import { agentOf } from '../../format/matchers.ts';
import { dayOf } from '../../format/zoned.ts';
import { text } from '../../text/index.ts';
import { raises } from '../../text/raises.ts';
import { useNow } from '../../ui/now.ts';
import ui from '../../ui/ui.module.css';
import { BLOCKED_KINDS, kindInAddress } from '../blocked/blocked-search.ts';
import { PauseButton, useAgentPause } from '../pauses/agent-pause.tsx';
import { PauseAnyButton } from '../pauses/pause-dialog.tsx';
import { RaiseButton, type RaisedLimit } from '../raises/raise-dialog.tsx';
import type { Step } from './alerts-search.ts';

const words = text.alerts;

interface NextStepsProps {
  alert: Api.Alert;
  /** What the link of a message leads to. */
  step: Step | undefined;
}

/** The ways out: raise the limit, pause the calls, look at them. */
export function NextSteps({ alert, step }: NextStepsProps) {
  const { slug } = useWorkspace();
  const calls = useCallsOf(alert);
  if (alert.raise !== undefined) {
    return (
      <p>
        <Link to="/w/$slug/raises/$raiseId" params={{ slug, raiseId: alert.raise.raise_id }}>
          {words.seeRequest}
        </Link>
      </p>
    );
  }
  if (step === 'calls') return <Navigate {...calls} replace />;
  return (
    <div className={ui['row']}>
      <Raise alert={alert} opens={step === 'raise'} />
      <Pause alert={alert} opens={step === 'pause'} />
      <Link {...calls}>{words.seeCalls}</Link>
    </div>
  );
}

interface StepProps {
  alert: Api.Alert;
  opens: boolean;
}

/** An alert of blocked calls does not say which budget blocked them; the limits page shows it. */
function Raise({ alert, opens }: StepProps) {
  const { slug } = useWorkspace();
  const limit = limitOf(alert);
  if (limit !== undefined) return <RaiseButton limit={limit} untilMidnight opens={opens} />;
  if (!alert.event_types.some((type) => type.startsWith('budget.'))) return null;
  const limits = linkOptions({ to: '/w/$slug/limits', params: { slug } });
  return opens ? <Navigate {...limits} replace /> : <Link {...limits}>{words.raiseLimit}</Link>;
}

function Pause({ alert, opens }: StepProps) {
  const agentId = agentIn(alert);
  return agentId === undefined ? (
    <PauseAnyButton proposed={labelToPause(alert)} opens={opens} />
  ) : (
    <PauseAgent agentId={agentId} opens={opens} />
  );
}

function PauseAgent({ agentId, opens }: { agentId: string; opens: boolean }) {
  const { pause } = useAgentPause(agentId);
  return <PauseButton agentId={agentId} name={agentId} pause={pause} opens={opens} />;
}

/** The agent that the alert or its budget is about. */
function agentIn(alert: Api.Alert): string | undefined {
  return agentOf(alert) ?? /^bud_agent\.(.+)$/.exec((alert.burn ?? alert.forecast)?.budget_id ?? '')?.[1];
}

/** The limit that the alert is about. Older gateways report budgets without an id. */
function limitOf({ burn, forecast, budget }: Api.Alert): RaisedLimit | undefined {
  const found = burn ?? forecast ?? budget;
  if (found?.budget_id === undefined) return undefined;
  const { budget_id: budgetId, budget_name, value } = found;
  const isOfOthers = 'is_of_others' in found && found.is_of_others === true;
  const name = raises.nameOf({ budget_name: budget_name ?? budgetId, ...(value !== undefined && { value }) });
  return { budgetId, name, value: isOfOthers ? null : value };
}

/** The label that the rule filters by, if it is one value. */
function labelOf({ labels = {} }: Api.Alert): { name: string; value: string } | undefined {
  const found = Object.entries(labels).find(([, value]) => !value.includes('*'));
  return found && { name: found[0], value: found[1] };
}

function labelToPause(alert: Api.Alert) {
  const label = labelOf(alert);
  return label && { thing: 'label' as const, label: label.name, value: label.value };
}

/** Where the calls of the alert are, on its day. */
function useCallsOf(alert: Api.Alert) {
  const { slug } = useWorkspace();
  const { zone } = useSpan();
  const now = useNow();
  const [start, end] = [alert.window.start, alert.window.end].map((at) => dayOf(Date.parse(at), zone));
  const span: SpanSearch = start === dayOf(now, zone) ? {} : { range: 'dates', start, end };
  const agent = agentIn(alert);
  const kind = BLOCKED_KINDS.find((each) => alert.event_types.includes(`${each}.blocked`));
  const byLabel = withLabel(labelOf(alert));
  if (kind !== undefined) {
    const search = { ...span, ...kindInAddress(kind), ...(agent === undefined ? byLabel : { agent }) };
    return linkOptions({ to: '/w/$slug/blocked', params: { slug }, search });
  }
  if (agent !== undefined) {
    return linkOptions({ to: '/w/$slug/agents/$agentId', params: { slug, agentId: agent }, search: span });
  }
  return linkOptions({ to: '/w/$slug/spend', params: { slug }, search: { ...span, ...byLabel } });
}
