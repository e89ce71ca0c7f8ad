import { type DenialCode, type PauseKind, pauseKindOf } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { DailyLimit, Denial } from './limit.ts';
import type { Pause } from './pause.ts';

/** Why a call is denied, as answers say it. */
export function denialCodeOf({ pause }: Pick<Denial, 'pause'>): DenialCode {
  return pause === undefined ? 'budget_exceeded' : 'paused';
}

type Whose = Pick<DailyLimit, 'scope' | 'scopeId'>;

const ofWorkspace = (_value: string, tenantId: TenantId): Whose => ({ scope: 'workspace', scopeId: tenantId });

/** Whose limit a pause is. */
const LIMIT_OF: Record<PauseKind, (value: string, tenantId: TenantId) => Whose> = {
  agent: (value) => ({ scope: 'agent', scopeId: value }),
  key: ofWorkspace,
  label: ofWorkspace,
};

/** A pause denies as a limit of 0 does: of the agent, or of the workspace if a key or a label is paused. */
export function pausedDenial(pause: Pause, tenantId: TenantId, requestedMicros: number): Denial {
  const { scope, value, createdAt, until } = pause;
  const whose = LIMIT_OF[pauseKindOf(scope).kind](value, tenantId);
  const counts = { limitMicros: 0, spentMicros: 0, heldMicros: 0, remainingMicros: 0, requestedMicros };
  const period = { start: createdAt, end: until };
  return { ...whose, ...counts, period, resetsAt: until, state: 'exact', message: messageOf(pause), pause };
}

const NAMES: Record<PauseKind, (label: string) => string> = {
  agent: () => 'Agent',
  key: () => 'Workspace key',
  label: (label) => `Label ${label}`,
};

function messageOf({ scope, value, until, reason, pausedBy }: Pause): string {
  const end = new Date(until).toISOString();
  const { kind, label } = pauseKindOf(scope);
  return `${NAMES[kind](label)} ${value} is paused until ${end} by ${pausedBy}: "${reason}". To resume it sooner, ask ${pausedBy}, or an owner or admin of the workspace.`;
}
