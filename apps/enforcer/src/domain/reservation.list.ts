import { fromCursor, toCursor } from '@tollkeeper/contracts';
import type { Clock, TenantId } from '@tollkeeper/kernel';
import { type Ask, findHold, NEWEST, toReservation, type Submit } from './decision.ts';
import type { ReservationFilter, ReservationPage } from './enforcement.ts';
import type { FoundHold } from './grant.ts';
import type { Hold, OpOf } from './journal.ts';
import { toLease } from './lease.find.ts';
import type { LeaseFilter, LeasePage } from './lease.ts';

/** A position in a journal. */
interface Place {
  /** Number of the entry. */
  seq: number;
  /** Index of the op in its entry. */
  index: number;
}

/** What grants a reservation, or a lease. */
type GrantOp = 'grant' | 'lease';

/** A grant with its position in the journal. */
export interface PlacedGrant extends Place {
  grant: OpOf<GrantOp>;
}

/** Reads the grants of a journal. */
export interface GrantReader {
  /**
   * The grants of a kind before the place that were decided at `since` or later, newest first, and the place reached:
   * null if there are no more. Without a place, starts with the newest.
   */
  grantsBefore(
    tenantId: TenantId,
    kind: GrantOp,
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
/** The id of a reservation or a lease, in a cursor. */
const HOLD_ID = /^[a-z]{3}_[0-9a-f]{1,64}$/;

/** A kind of list: what it lists, and how. */
interface ListKind<Item extends { state: string }> {
  kind: GrantOp;
  /** The state of those that hold an amount. */
  held: Item['state'];
  isChosen(grant: Hold): boolean;
  toItem(found: FoundHold, now: number): Item;
}

interface Page<Item> {
  items: Item[];
  nextCursor: string | null;
}

export interface ListDeps {
  submit: Submit;
  grants: GrantReader;
  clock: Clock;
}
type AskedPage = { limit: number; cursor: string | undefined };

export function listReservations(
  deps: ListDeps,
  tenantId: TenantId,
  { state, agentId, runId }: ReservationFilter,
  page: AskedPage,
): Promise<ReservationPage> {
  const isChosen = (grant: Hold) =>
    (agentId ?? grant.agentId) === grant.agentId && (runId ?? grant.runId) === grant.runId;
  return list(deps, tenantId, { kind: 'grant', held: 'held', isChosen, toItem: toReservation }, { ...page, state });
}

export function listLeases(
  deps: ListDeps,
  tenantId: TenantId,
  { state, agentId }: LeaseFilter,
  page: AskedPage,
): Promise<LeasePage> {
  const isChosen = (grant: Hold) => (agentId ?? grant.agentId) === grant.agentId;
  return list(deps, tenantId, { kind: 'lease', held: 'open', isChosen, toItem: toLease }, { ...page, state });
}

async function list<Item extends { state: string }>(
  { submit, grants: reader, clock }: ListDeps,
  tenantId: TenantId,
  of: ListKind<Item>,
  page: AskedPage & { state: Item['state'] | undefined },
): Promise<Page<Item>> {
  if (page.state === of.held) return submit(tenantId, readHeld(of, page));
  const since = clock() - LIST_MS;
  const items: Item[] = [];
  let place = page.cursor === undefined ? null : placeOf(page.cursor);
  const until = performance.now() + LOOK_MS;
  do {
    const { grants, next } = await reader.grantsBefore(tenantId, of.kind, place, since);
    const chosen = grants.filter(({ grant }) => of.isChosen(grant));
    const found = chosen.length === 0 ? [] : await submit(tenantId, readAll(chosen, of));
    for (const [index, item] of found.entries()) {
      if (item === null || (page.state ?? item.state) !== item.state) continue;
      items.push(item);
      if (items.length === page.limit) return { items, nextCursor: cursorOf(chosen[index]!) };
    }
    if (next === null) return { items, nextCursor: null };
    place = next;
  } while (performance.now() < until);
  return { items, nextCursor: cursorOf(place) };
}

/**
 * Those that hold an amount, newest first. They are in the ledger, while a journal may have thousands of ended ones for
 * each.
 */
function readHeld<Item extends { state: string }>(of: ListKind<Item>, { limit, cursor }: AskedPage): Ask<Page<Item>> {
  const [beforeMs, beforeId] = cursor === undefined ? [Infinity, ''] : fromCursor(cursor, HOLD_ID);
  const isBefore = ({ createdAt, id }: Hold) => createdAt < beforeMs || (createdAt === beforeMs && id < beforeId);
  return {
    decide(ledger, context) {
      if (!context.isNewest) return NEWEST;
      const found: Hold[] = [];
      for (const hold of ledger.holds()) {
        const isOfKind = (hold.lease === undefined) === (of.kind === 'grant');
        if (isOfKind && hold.expiresAt > context.now && isBefore(hold) && of.isChosen(hold)) found.push(hold);
      }
      const sorted = found.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
      const page = sorted.slice(0, limit);
      const last = sorted.length > limit ? page.at(-1) : undefined;
      const items = page.map((hold) => of.toItem({ hold }, context.now));
      return { ops: [], answer: { items, nextCursor: last ? toCursor(last.createdAt, last.id) : null } };
    },
  };
}

/** The current items; null for one that has just been removed from the journal. */
function readAll<Item extends { state: string }>(
  placed: readonly PlacedGrant[],
  { toItem }: ListKind<Item>,
): Ask<(Item | null)[]> {
  return {
    decide(ledger, context) {
      if (!context.isNewest) return NEWEST;
      const found = placed.map(({ grant }) => findHold(ledger, grant.id, context));
      const keys = found.flatMap((one) => ('needs' in one ? (one.needs.keys ?? []) : []));
      if (keys.length > 0) return { needs: { keys } };
      const items = found.map((one) => ('hold' in one || 'grant' in one ? toItem(one, context.now) : null));
      return { ops: [], answer: items };
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
