import {
  type BudgetedCall,
  type DenialCode,
  pauseKindOf,
  type PauseKind,
  type PauseScope,
  valueOfEach,
} from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { DailyLimit, Denial } from './limit.ts';

/** Until its end, calls with the value get no reservations and no leases. Times are epoch milliseconds. */
export interface Pause {
  id: string;
  scope: PauseScope;
  /** An `agent_id`, the id of a workspace key, or the value of the label. */
  value: string;
  createdAt: number;
  until: number;
  reason: string;
  /** The name of the person. */
  pausedBy: string;
}

/** The pauses of a workspace. */
export interface Pauses {
  readonly count: number;
  /** The pause of the call at that time; of several, the one that ends last. Null if it is not paused. */
  of(call: BudgetedCall, at: number): Pause | null;
}

export const NO_PAUSES: Pauses = { count: 0, of: () => null };

export function createPauses(found: readonly Pause[]): Pauses {
  if (found.length === 0) return NO_PAUSES;
  const byScope = new Map<PauseScope, Map<string, Pause>>();
  for (const pause of found) {
    const ofScope = byScope.get(pause.scope) ?? new Map<string, Pause>();
    byScope.set(pause.scope, ofScope.set(pause.value, pause));
  }
  return {
    count: found.length,
    of(call, at) {
      let last: Pause | null = null;
      for (const [scope, ofScope] of byScope) {
        const value = valueOfEach(scope, call);
        const pause = value === null ? undefined : ofScope.get(value);
        if (pause !== undefined && pause.until > at && (last === null || pause.until > last.until)) last = pause;
      }
      return last;
    },
  };
}

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
