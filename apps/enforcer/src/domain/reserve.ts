import { isWithoutLabels, type Labels, mergeLabels } from '@tollkeeper/contracts';
import { AppError, MAX_MICROS } from '@tollkeeper/kernel';
import type { ActiveBudgets } from './active.budgets.ts';
import { accountIn, findPeriod, placesOf } from './budget.period.ts';
import { findDay } from './day.ts';
import {
  type Ask,
  type Context,
  type Decided,
  findReservation,
  type Found,
  NEWEST,
  toReservation,
} from './decision.ts';
import type { Decision } from './enforcement.ts';
import { type Day, type Hold, keys, type Op, REQUEST_ID_MS, reservationIdOf, saidOf } from './journal.ts';
import { accountsOf, applyOp, EMPTY_ACCOUNT, hasRoomFor, type Ledger } from './ledger.ts';
import type { Limit } from './limit.ts';
import { hasRoom, leastRemaining, rowsOf, toDenial } from './limit.rows.ts';
import type { ReservationRequest } from './reservation.ts';

/** Maximum number of open reservations of a workspace. They stay in memory while it is busy. */
const MAX_OPEN_RESERVATIONS = 25_000;
/** Their maximum memory in bytes: with many labels, it is reached first. */
const MAX_HOLD_BYTES = 48 * 1024 * 1024;

/** A request and what applies to it. */
export interface LimitedRequest extends ReservationRequest {
  keyId: string | null;
  /** The labels of its key, which the call cannot contradict. */
  pinned: Labels;
  /** The labels of its agent, which override those of the call. */
  ofAgent: Labels;
  limits: readonly Limit[];
  dryRun: boolean;
}

/**
 * Grants or denies: a grant needs `posted + held + amount ≤ limit` for each limit that applies. A repeated request gets
 * its existing reservation. A denial is decided on the newest ledger and changes nothing.
 */
export function reserve(request: LimitedRequest, budgets?: ActiveBudgets): Ask<Decision> {
  return {
    limits: request.limits,
    ...(budgets && { budgets }),
    decide: (ledger, context) => decide(request, ledger, context),
  };
}

function decide(request: LimitedRequest, ledger: Ledger, context: Context): Decided<Decision> {
  const { now, tenantId } = context;
  const id = reservationIdOf(tenantId, request.requestId);
  const day = findDay(ledger, now);
  if (day === undefined) throw new Error('The running day is not open');

  const open = ledger.hold(id);
  if (open !== undefined) return repeated({ hold: open }, request, ledger, day, context);

  const rows = rowsOf(ledger, day, now, request.limits);
  const blocking = leastRemaining(rows.filter((row) => !hasRoom(row, request.amountMicros)));
  const contradiction = contradictionOf(request);
  const refusal = contradiction ?? refusalOf(ledger, day, request, now);
  // The journal refuses a second grant under the same key, but decisions that append nothing must look first. Each look
  // also reads the newest entries, so a denial is decided on these.
  if (blocking !== undefined || refusal !== null || request.dryRun || context.find(keys.grant(id)) !== undefined) {
    const before = findReservation(ledger, id, context);
    if ('needs' in before) return before;
    if (!('none' in before)) return repeated(before, request, ledger, day, context);
  }
  if (contradiction !== null) return { refusal: contradiction };
  if (blocking !== undefined) {
    return { ops: [], answer: { decision: 'denied', denial: toDenial(blocking, request.amountMicros), limits: rows } };
  }
  if (refusal !== null) return { refusal };
  if (request.dryRun) return { ops: [], answer: { decision: 'allowed', reservation: null, limits: rows } };

  const { requestId, agentId, runId, planKey, amountMicros, ttlSeconds } = request;
  const what = { id, requestId, agentId, runId, planKey, amountMicros, ttlSeconds, ...factsOf(request) };
  const places = placesOf(ledger, request.limits, now, { timezone: day.timezone, now });
  const accounts = places.accounts.length === 0 ? {} : { accounts: places.accounts };
  const hold: Hold = { ...what, day: day.start, ...accounts, createdAt: now, expiresAt: now + ttlSeconds * 1000 };
  const grant: Op = { op: 'grant', ...hold };
  applyOp(ledger, grant);
  return { ops: [...places.opened, grant], answer: allowed({ hold }, request, ledger, day, now) };
}

function factsOf(request: LimitedRequest): Partial<Hold> {
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
export function labelsOf({ pinned, ofAgent, labels }: Pick<LimitedRequest, 'pinned' | 'ofAgent' | 'labels'>): Labels {
  return mergeLabels(pinned, ofAgent, labels);
}

/** The refusal of a label with another value than the key pins. */
function contradictionOf({ pinned, labels }: LimitedRequest): AppError | null {
  for (const name in labels) {
    if (!Object.hasOwn(pinned, name) || pinned[name] === labels[name]) continue;
    const message = `The workspace key pins the label ${name} to another value. Leave the label out, or use another key.`;
    return new AppError('label_pinned', message, {
      details: [{ path: `labels.${name}`, message: `must be ${pinned[name]}, as the workspace key has it` }],
    });
  }
  return null;
}

type FoundReservation = Exclude<Found, { none: true }>;

function repeated(
  found: FoundReservation,
  request: LimitedRequest,
  ledger: Ledger,
  day: Day,
  { now, isNewest }: Context,
): Decided<Decision> {
  // Nothing is appended, so the journal would not reveal that another replica has settled or released it.
  if (!isNewest) return NEWEST;
  const before = 'hold' in found ? found.hold : found.grant;
  const isRecent = now <= before.createdAt + REQUEST_ID_MS;
  const isSame =
    COMPARED.every((field) => before[field] === request[field]) && (before.said ?? saidOf(request)) === saidOf(request);
  if (isSame && isRecent) return { ops: [], answer: allowed(found, request, ledger, day, now) };
  return {
    refusal: new AppError(
      'request_id_reused',
      isSame
        ? 'This request_id was used more than 24 hours ago. Use a new id for each call.'
        : 'Another request used this request_id with other content. Repeat a request unchanged, or use a new id.',
    ),
  };
}

const COMPARED = ['agentId', 'runId', 'planKey', 'amountMicros', 'ttlSeconds'] as const;

function allowed(found: FoundReservation, { limits }: LimitedRequest, ledger: Ledger, day: Day, now: number): Decision {
  return { decision: 'allowed', reservation: toReservation(found, now), limits: rowsOf(ledger, day, now, limits) };
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

function refusalOf(
  ledger: Ledger,
  day: Day,
  { agentId, planKey, amountMicros, limits }: LimitedRequest,
  now: number,
): AppError | null {
  if (ledger.holdCount >= MAX_OPEN_RESERVATIONS) {
    const message = `The workspace has ${MAX_OPEN_RESERVATIONS} open reservations. Settle or release those of finished calls.`;
    return new UsedUpError('open_reservations', message, 1);
  }
  if (ledger.holdBytes >= MAX_HOLD_BYTES) {
    const message =
      'The open reservations of the workspace have too many long labels. Send fewer or shorter labels, and settle or release the reservations of finished calls.';
    return new UsedUpError('open_reservations', message, 1);
  }
  for (const key of accountsOf({ day: day.start, agentId, planKey })) {
    if (!hasRoomFor(ledger, key)) {
      const message = 'The workspace has used the maximum number of agents and plans for today. Use fewer of them.';
      return new UsedUpError('accounts', message, Math.ceil((day.end - now) / 1000));
    }
    const { held } = ledger.readAccount(key) ?? EMPTY_ACCOUNT;
    if (held + amountMicros > MAX_MICROS) {
      const message = `Open reservations may hold at most ${MAX_MICROS} together; ${held} is held already. Settle or release some.`;
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
