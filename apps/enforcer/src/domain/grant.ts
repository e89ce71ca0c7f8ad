import { isWithoutLabels, type Labels, mergeLabels } from '@tollkeeper/contracts';
import { AppError, MAX_MICROS, type TenantId } from '@tollkeeper/kernel';
import { accountIn, findPeriod, placesOf } from './budget.period.ts';
import { findDay } from './day.ts';
import { type Context, type Decided, findHold, type Found, NEWEST } from './decision.ts';
import { type Day, type Hold, keys, type OpOf, REQUEST_ID_MS, saidOf } from './journal.ts';
import { accountsOf, applyOp, EMPTY_ACCOUNT, hasRoomFor, type Ledger } from './ledger.ts';
import type { Denial, Limit, LimitRow } from './limit.ts';
import { hasRoom, leastRemaining, rowsOf, toDenial } from './limit.rows.ts';
import { pausedDenial } from './pause.denial.ts';
import type { Pause } from './pause.ts';
import type { ReservationRequest } from './reservation.ts';

/** Maximum number of open reservations and leases of a workspace. They stay in memory while it is busy. */
const MAX_OPEN_RESERVATIONS = 25_000;
/** Their maximum memory in bytes: with many labels, it is reached first. */
const MAX_HOLD_BYTES = 48 * 1024 * 1024;

/** What applies to a request. */
export interface Applying {
  keyId: string | null;
  /** The labels of its key, which the call cannot contradict. */
  pinned: Labels;
  /** The labels of its agent, which override those of the call. */
  ofAgent: Labels;
  limits: readonly Limit[];
  /** Set if its calls are paused. */
  pause?: Pause | null;
}

/** What requests for reservations and leases have in common. */
type Asked = Pick<
  ReservationRequest,
  'requestId' | 'agentId' | 'planKey' | 'ttlSeconds' | 'model' | 'provider' | 'labels'
>;
export type GrantRequest = Asked & Applying;

/** A hold before its amount and its end are known. */
type HoldToBe = Omit<Hold, 'runId' | 'amountMicros' | 'expiresAt'>;

/** What a reservation and a lease differ in. */
export interface GrantKind<Allowed> {
  idOf(tenantId: TenantId, requestId: string): string;
  /** What each limit must have room for. */
  neededMicros: number;
  /** Whether nothing is to be changed. */
  isDry: boolean;
  /** Whether a hold is for the same request, besides what all kinds compare. */
  isSame(before: Hold): boolean;
  toGrant(what: HoldToBe, on: { ledger: Ledger; day: Day; now: number }): OpOf<'grant' | 'lease'>;
  /** `found` is null if nothing was changed. */
  allow(found: FoundHold | null, limits: LimitRow[], now: number): Allowed;
}

export type FoundHold = Exclude<Found, { none: true }>;
type Denied = { decision: 'denied'; denial: Denial; limits: LimitRow[] };

/**
 * Grants or denies: a grant needs `posted + held + amount ≤ limit` for each limit that applies. A repeated request gets
 * its existing hold, and a paused one is denied whatever the limits. A denial is decided on the newest ledger and
 * changes nothing.
 */
export function decideGrant<Allowed>(
  request: GrantRequest,
  kind: GrantKind<Allowed>,
  ledger: Ledger,
  context: Context,
): Decided<Allowed | Denied> {
  const { now, tenantId } = context;
  const { neededMicros } = kind;
  const { pause = null } = request;
  const id = kind.idOf(tenantId, request.requestId);
  const day = findDay(ledger, now);
  if (day === undefined) throw new Error('The running day is not open');
  const allow = (found: FoundHold | null) => kind.allow(found, rowsOf(ledger, day, now, request.limits), now);
  const repeat = (found: FoundHold) => repeated(found, request, kind, context) ?? { ops: [], answer: allow(found) };

  const open = ledger.hold(id);
  if (open !== undefined) return repeat({ hold: open });

  const rows = rowsOf(ledger, day, now, request.limits);
  const blocking = leastRemaining(rows.filter((row) => !hasRoom(row, neededMicros)));
  const contradiction = contradictionOf(request);
  const refusal = contradiction ?? refusalOf(ledger, day, request, neededMicros, now);
  // The journal refuses a second grant under the same key, but decisions that append nothing must look first. Each look
  // also reads the newest entries, so a denial is decided on these.
  const isDenied = pause !== null || blocking !== undefined;
  if (isDenied || refusal !== null || kind.isDry || context.find(keys.grant(id)) !== undefined) {
    const before = findHold(ledger, id, context);
    if ('needs' in before) return before;
    if (!('none' in before)) return repeat(before);
  }
  if (contradiction !== null) return { refusal: contradiction };
  const denial =
    pause !== null ? pausedDenial(pause, tenantId, neededMicros) : blocking && toDenial(blocking, neededMicros);
  if (denial !== undefined) return { ops: [], answer: { decision: 'denied', denial, limits: rows } };
  if (refusal !== null) return { refusal };
  if (kind.isDry) return { ops: [], answer: kind.allow(null, rows, now) };

  const { requestId, agentId, planKey, ttlSeconds } = request;
  const places = placesOf(ledger, request.limits, now, { timezone: day.timezone, now });
  const accounts = places.accounts.length === 0 ? {} : { accounts: places.accounts };
  const what = { id, requestId, agentId, planKey, ttlSeconds, ...factsOf(request), day: day.start, ...accounts };
  const grant = kind.toGrant({ ...what, createdAt: now }, { ledger, day, now });
  applyOp(ledger, grant);
  return { ops: [...places.opened, grant], answer: allow({ hold: ledger.hold(id)! }) };
}

function factsOf(request: GrantRequest): Partial<Hold> {
  const { model, provider, keyId } = request;
  const labels = labelsOf(request);
  return {
    said: saidOf(request),
    ...(!isWithoutLabels(labels) && { labels }),
    ...(model !== null && { model }),
    ...(provider !== null && { provider }),
    ...(keyId !== null && { keyId }),
  };
}

/** All labels of the call. */
export function labelsOf({ pinned, ofAgent, labels }: Pick<GrantRequest, 'pinned' | 'ofAgent' | 'labels'>): Labels {
  return mergeLabels(pinned, ofAgent, labels);
}

/** The refusal of a label with another value than the key pins. */
function contradictionOf({ pinned, labels }: GrantRequest): AppError | null {
  for (const name in labels) {
    if (!Object.hasOwn(pinned, name) || pinned[name] === labels[name]) continue;
    const message = `The workspace key pins the label ${name} to another value. Leave the label out, or use another key.`;
    return new AppError('label_pinned', message, {
      details: [{ path: `labels.${name}`, message: `must be ${pinned[name]}, as the workspace key has it` }],
    });
  }
  return null;
}

/** What is wrong with a repeated request, or missing to answer it; null if nothing is. */
function repeated<Allowed>(
  found: FoundHold,
  request: GrantRequest,
  kind: GrantKind<Allowed>,
  { now, isNewest }: Context,
): Extract<Decided<never>, { refusal: AppError } | { needs: object }> | null {
  // Nothing is appended, so the journal would not reveal that another replica has ended it.
  if (!isNewest) return NEWEST;
  const before = 'hold' in found ? found.hold : found.grant;
  const isRecent = now <= before.createdAt + REQUEST_ID_MS;
  const said = saidOf(request);
  const isSame =
    COMPARED.every((field) => before[field] === request[field]) &&
    (before.said ?? said) === said &&
    kind.isSame(before);
  return isSame && isRecent ? null : { refusal: reused(isSame) };
}

const COMPARED = ['agentId', 'planKey', 'ttlSeconds'] as const;

/** The refusal of a request id that was used for something else, or too long ago. */
export function reused(isSame: boolean): AppError {
  return new AppError(
    'request_id_reused',
    isSame
      ? 'This request_id was used more than 24 hours ago. Use a new id for each call.'
      : 'Another request used this request_id with other content. Repeat a request unchanged, or use a new id.',
  );
}

/** The maximum that a workspace has reached, so that it gets no further reservations. */
export type UsedUp = 'open_reservations' | 'accounts' | 'held';

/** Refuses a reservation because the workspace has reached a maximum other than its limits. */
export class UsedUpError extends AppError {
  readonly what: UsedUp;

  constructor(what: UsedUp, message: string, retryAfterSeconds: number) {
    super('rate_limited', message, { retryAfterSeconds });
    this.what = what;
  }
}

/** The refusal of a request of any kind that needs at least `amountMicros`. */
function refusalOf(
  ledger: Ledger,
  day: Day,
  { agentId, planKey, limits }: GrantRequest,
  amountMicros: number,
  now: number,
): AppError | null {
  if (ledger.holdCount >= MAX_OPEN_RESERVATIONS) {
    const message = `The workspace has ${MAX_OPEN_RESERVATIONS} open reservations and leases. Settle, release or return those of finished calls.`;
    return new UsedUpError('open_reservations', message, 1);
  }
  if (ledger.holdBytes >= MAX_HOLD_BYTES) {
    const message =
      'The open reservations and leases of the workspace have too many long labels. Send fewer or shorter labels, and settle, release or return those of finished calls.';
    return new UsedUpError('open_reservations', message, 1);
  }
  for (const key of accountsOf({ day: day.start, agentId, planKey })) {
    if (!hasRoomFor(ledger, key)) {
      const message = 'The workspace has used the maximum number of agents and plans for today. Use fewer of them.';
      return new UsedUpError('accounts', message, Math.ceil((day.end - now) / 1000));
    }
    const { held } = ledger.readAccount(key) ?? EMPTY_ACCOUNT;
    if (held + amountMicros > MAX_MICROS) {
      const message = `Open reservations and leases may hold at most ${MAX_MICROS} together; ${held} is held already. Settle, release or return some.`;
      return new UsedUpError('held', message, 1);
    }
  }
  for (const { budget } of limits) {
    if (budget?.denies !== true) continue;
    const period = findPeriod(ledger, budget, now, { timezone: day.timezone, now });
    if (period === null || hasRoomFor(ledger, accountIn(budget, period))) continue;
    const message = `The budgets of the workspace count the maximum number of values, so "${budget.name}" cannot count ${budget.value} as well. Use a value that is known, or ask an owner for budgets with fewer values.`;
    return new UsedUpError('accounts', message, Math.ceil((period.end - now) / 1000));
  }
  return null;
}
