import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { TenantId } from '@tollkeeper/kernel';
import type { BookedSums, LimitName } from './fault.book.ts';
import { type LimitOfView, listAsOwner, type OpenLease, readAsOwner } from './fault.owner.ts';
import type { Stage } from './fault.stage.ts';

interface OpenReservation {
  agent_id: string;
  plan_key: string | null;
  amount_micros: number;
}

export interface FinalStateDeps {
  stage: Pick<Stage, 'replicas'>;
  tenantId: TenantId;
  sums: Readonly<Record<LimitName, BookedSums>>;
  /** What the limits are. */
  limits: Readonly<Record<LimitName, number>>;
  /** The limits in which a call counts. */
  limitsOf: (call: { agentId: string; planKey: string | null }) => LimitName[];
}

interface FinalState {
  rows: LimitOfView[];
  leases: OpenLease[];
  problems: string[];
}

/** Maximum time until the remaining events are posted and the leases have ended. */
const PATIENCE_MS = 180_000;
const EVERY_MS = 200;

/**
 * Compares each limit with what gateways wrote down, and what it holds with the list of what is open, once all events
 * are posted. `mayHaveLeases`: whether leases may be open.
 */
export async function compareFinalState(deps: FinalStateDeps, mayHaveLeases: boolean): Promise<FinalState> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const state = await lookAt(deps, mayHaveLeases);
    if (state.problems.length === 0 || Date.now() > deadline) return state;
    await delay(EVERY_MS);
  }
}

async function lookAt(deps: FinalStateDeps, mayHaveLeases: boolean): Promise<FinalState> {
  const { stage, tenantId, limitsOf } = deps;
  const { port } = stage.replicas[0]!;
  const view = await readAsOwner<{ items: LimitOfView[] }>(port, tenantId, '/limits');
  const leases = await listAsOwner<OpenLease>(port, tenantId, '/limits/leases?state=open');
  const reservations = await listAsOwner<OpenReservation>(port, tenantId, '/limits/reservations?state=held');
  if (view === null || leases === null || reservations === null) {
    return { rows: [], leases: [], problems: ['The limits could not be read'] };
  }
  const open = [
    ...leases.map(({ left_micros: micros, ...of }) => ({ ...of, micros, leases: 1 })),
    ...reservations.map(({ amount_micros: micros, ...of }) => ({ ...of, micros, leases: 0 })),
  ].map((hold) => ({ ...hold, limits: limitsOf({ agentId: hold.agent_id, planKey: hold.plan_key }) }));

  const problems = view.items.flatMap((row) => {
    const holds = open.filter(({ limits }) => limits.includes(row.scope));
    const openLeases = holds.reduce((sum, hold) => sum + hold.leases, 0);
    const wanted = {
      ...deps.sums[row.scope],
      held: holds.reduce((sum, { micros }) => sum + micros, 0),
      openLeases: mayHaveLeases ? openLeases : 0,
      openReservations: holds.length - openLeases,
    };
    const { above_hold: aboveHold, late, unreserved } = row.overspend_micros;
    const found = {
      ...{ spent: row.spent_micros, aboveHold, late, unreserved, held: row.held_micros },
      ...{ openLeases: row.open_leases, openReservations: row.open_reservations },
    };
    const passed = found.spent - aboveHold - late - unreserved;
    return [
      ...(isDeepStrictEqual(found, wanted) ? [] : [`${row.scope}: ${JSON.stringify({ found, wanted })}`]),
      ...(passed <= deps.limits[row.scope] ? [] : [`${row.scope}: over its limit by more than the terms of the bound`]),
    ];
  });
  if (view.items.length !== 3) problems.push(`${view.items.length} limits, not 3`);
  return { rows: view.items, leases, problems };
}
