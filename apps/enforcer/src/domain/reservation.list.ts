import { fromCursor, toCursor } from '@tollkeeper/contracts';
import type { Clock, TenantId } from '@tollkeeper/kernel';
import { type Ask, findReservation, toReservation } from './decision.ts';
import type { ReservationFilter, ReservationPage } from './enforcement.ts';
import type { OpOf } from './journal.ts';
import type { Reservation } from './reservation.ts';
import type { Submit } from './reservation.use-cases.ts';

/** A position in a journal. */
interface Place {
  /** Number of the entry. */
  seq: number;
  /** Index of the op in its entry. */
  index: number;
}

/** A grant with its position in the journal. */
export interface PlacedGrant extends Place {
  grant: OpOf<'grant'>;
}

/** Reads the grants of a journal. */
export interface GrantReader {
  /**
   * The grants before the place that were decided at `since` or later, newest first, and the place reached: null if
   * there are no more. Without a place, starts with the newest.
   */
  grantsBefore(
    tenantId: TenantId,
    place: Place | null,
    since: number,
  ): Promise<{ grants: PlacedGrant[]; next: Place | null }>;
}

/** How far back the list reaches. */
const LIST_MS = 48 * 3_600_000;
/**
 * How long to search the journal for a page, in milliseconds. Filters that match few of many entries get shorter pages.
 */
const LOOK_MS = 400;

export async function listReservations(
  deps: { submit: Submit; grants: GrantReader; clock: Clock },
  tenantId: TenantId,
  filter: ReservationFilter,
  page: { limit: number; cursor: string | undefined },
): Promise<ReservationPage> {
  const { submit, grants: reader, clock } = deps;
  const since = clock() - LIST_MS;
  const items: Reservation[] = [];
  let place = page.cursor === undefined ? null : placeOf(page.cursor);
  const until = performance.now() + LOOK_MS;
  do {
    const { grants, next } = await reader.grantsBefore(tenantId, place, since);
    const chosen = grants.filter(({ grant }) => isChosen(grant, filter));
    const reservations = chosen.length === 0 ? [] : await submit(tenantId, readAll(chosen));
    for (const [index, reservation] of reservations.entries()) {
      if (reservation === null || (filter.state ?? reservation.state) !== reservation.state) continue;
      items.push(reservation);
      if (items.length === page.limit) return { items, nextCursor: cursorOf(chosen[index]!) };
    }
    if (next === null) return { items, nextCursor: null };
    place = next;
  } while (performance.now() < until);
  return { items, nextCursor: cursorOf(place) };
}

function isChosen({ agentId, runId }: OpOf<'grant'>, filter: ReservationFilter): boolean {
  return (
    (filter.agentId === undefined || filter.agentId === agentId) &&
    (filter.runId === undefined || filter.runId === runId)
  );
}

/** The current reservations; null for one that has just been removed from the journal. */
function readAll(placed: readonly PlacedGrant[]): Ask<(Reservation | null)[]> {
  return {
    decide(ledger, context) {
      if (!context.isNewest) return { needs: { newest: true } };
      const found = placed.map(({ grant }) => findReservation(ledger, grant.id, context));
      const keys = found.flatMap((one) => ('needs' in one ? (one.needs.keys ?? []) : []));
      if (keys.length > 0) return { needs: { keys } };
      const reservations = found.map((one) =>
        'hold' in one || 'grant' in one ? toReservation(one, context.now) : null,
      );
      return { ops: [], answer: reservations };
    },
  };
}

function cursorOf({ seq, index }: Place): string {
  return toCursor(seq, index);
}

function placeOf(cursor: string): Place {
  const [seq, index] = fromCursor(cursor, /^\d{1,6}$/);
  return { seq, index: Number(index) };
}
