import { isDeepStrictEqual } from 'node:util';
import { type Cause, invalidRequest, MAX_RAISE_DAYS, MAX_RAISES, systemCause } from '@tollkeeper/contracts';
import { AppError, type Clock, newId, type TenantId } from '@tollkeeper/kernel';
import type { BudgetUseCases } from './budget.use-cases.ts';
import {
  type Asker,
  type KnownRaises,
  type Raise,
  type RaiseDraft,
  type RaiseFilter,
  type RaiseStore,
  stateOf,
} from './raise.ts';

const MAX_RAISE_MS = MAX_RAISE_DAYS * 86_400_000;
/** Ends that are stored in one pass. */
const MAX_ENDS = 20;
/** Requests of an asker that are open or of the last hour, so that no caller fills the list of all. */
export const MAX_REQUESTS_OF_ASKER = 5;

/** How a request is approved: what is not given stays as it was asked for. */
interface Approval {
  extraMicros?: number | undefined;
  until?: Date | undefined;
  /** The token of its link. */
  token?: string | undefined;
}

export interface RaiseUseCases {
  list(tenantId: TenantId, filter: RaiseFilter): Promise<Raise[]>;
  /** Rejects with `not_found` if the workspace has no such raise. */
  get(tenantId: TenantId, id: string): Promise<Raise>;
  /** Those in force now. */
  inForce(tenantId: TenantId): Promise<Raise[]>;
  /** Those granted in the span: at most `max`, and how many there are. */
  grantedIn: RaiseStore['grantedIn'];
  /** Raises a limit. Rejects with `invalid_request`, `not_found` for the budget, and `conflict` if too many are. */
  grant(tenantId: TenantId, draft: RaiseDraft, asker: Asker, cause: Cause): Promise<Raise>;
  /**
   * Asks owners to raise a limit. Rejects as {@link grant}, and with `rate_limited` if the asker has too many requests.
   */
  request(tenantId: TenantId, draft: RaiseDraft, asker: Asker, cause: Cause): Promise<Raise>;
  /**
   * Grants a request. Rejects with `conflict` if it was decided or has expired, and with `invalid_request` for a token
   * that is not of this request, or too old.
   */
  approve(tenantId: TenantId, id: string, approval: Approval, cause: Cause): Promise<Raise>;
  /** Rejects as {@link approve}. */
  decline(
    tenantId: TenantId,
    id: string,
    why: { reason: string; token?: string | undefined },
    cause: Cause,
  ): Promise<Raise>;
  /** Ends an active raise before its time. Rejects with `conflict` if it is none. */
  end(tenantId: TenantId, id: string, cause: Cause): Promise<Raise>;
  /** Stores that raises have ended whose time is over, for the audit log. They count no more before that. */
  recordEnds(): Promise<void>;
}

export interface RaiseDeps {
  store: RaiseStore;
  budgets: Pick<BudgetUseCases, 'get'>;
  /** Whether the token is of the link of the raise, and still good at the time. */
  checkLink(tenantId: TenantId, raiseId: string, token: string, now: number): 'good' | 'expired' | 'forged';
  clock: Clock;
}

export function createRaiseUseCases({ store, budgets, checkLink, clock }: RaiseDeps): RaiseUseCases {
  const nowDate = () => new Date(clock());

  async function add(
    tenantId: TenantId,
    draft: RaiseDraft,
    { asker, state, cause }: { asker: Asker; state: 'requested' | 'active'; cause: Cause },
  ): Promise<Raise> {
    const now = nowDate();
    requirePossible(draft.until, now);
    const raise: Raise = {
      ...{ ...draft, id: newId('rai'), state, budgetName: await budgetName(budgets, tenantId, draft) },
      ...{ askedBy: asker, askedMicros: draft.extraMicros, askedUntil: draft.until, createdAt: now },
      decidedBy: state === 'active' ? { id: asker.id, name: asker.name } : null,
      decidedAt: state === 'active' ? now : null,
      ...{ declineReason: null, endedBy: null, endedAt: null },
    };
    return store.add(tenantId, raise, (known) => placeOf(raise, known), cause);
  }

  async function change(tenantId: TenantId, id: string, decide: Parameters<RaiseStore['change']>[3], cause: Cause) {
    return (await store.change(tenantId, id, nowDate(), decide, cause)) ?? noSuchRaise();
  }

  /** Who decides a request, and when, once the token and the state allow it. */
  function decisionOn(current: Raise, token: string | undefined, { actor: { id, name } }: Cause, tenantId: TenantId) {
    const now = nowDate();
    const link = token === undefined ? 'good' : checkLink(tenantId, current.id, token, now.getTime());
    if (link === 'forged') throw badToken('is not the one of the link of this request. Open the link again');
    requireState(current, 'requested', now);
    if (link === 'expired') throw badToken('has expired. Leave it out: owners decide without it, too');
    return { decidedBy: { id, name }, decidedAt: now };
  }

  return {
    list: (tenantId, filter) => store.list(tenantId, filter, nowDate()),
    get: async (tenantId, id) => (await store.find(tenantId, id)) ?? noSuchRaise(),
    inForce: (tenantId) => store.inForce(tenantId, nowDate()),
    grantedIn: store.grantedIn,
    grant: (tenantId, draft, asker, cause) =>
      add(tenantId, draft, { asker, state: 'active', cause: { ...cause, action: 'raise.grant' } }),
    request: (tenantId, draft, asker, cause) => add(tenantId, draft, { asker, state: 'requested', cause }),

    approve: (tenantId, id, { extraMicros, until, token }, cause) =>
      change(
        tenantId,
        id,
        (current, inForce) => {
          const decision = decisionOn(current, token, cause, tenantId);
          if (inForce >= MAX_RAISES) throw tooMany();
          const granted = { extraMicros: extraMicros ?? current.extraMicros, until: until ?? current.until };
          requirePossible(granted.until, decision.decidedAt);
          return { ...current, ...granted, ...decision, state: 'active' };
        },
        cause,
      ),

    decline: (tenantId, id, { reason, token }, cause) =>
      change(
        tenantId,
        id,
        (current) => {
          const decision = decisionOn(current, token, cause, tenantId);
          return { ...current, ...decision, state: 'declined', declineReason: reason };
        },
        cause,
      ),

    end: (tenantId, id, cause) => change(tenantId, id, (current) => ended(current, nowDate(), cause), cause),

    async recordEnds() {
      const lapsed = await store.lapsed(nowDate(), MAX_ENDS);
      const cause = systemCause('raise.end', 'budgets');
      const failures: unknown[] = [];
      for (const { tenantId, id } of lapsed) {
        await change(tenantId, id, endedInTime, cause).catch((error: unknown) => failures.push(error));
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** Rejects with `invalid_request` unless the draft names a value exactly if the budget has a limit for each. */
async function budgetName(
  budgets: RaiseDeps['budgets'],
  tenantId: TenantId,
  { budgetId, value }: RaiseDraft,
): Promise<string> {
  const { name, each } = await budgets.get(tenantId, budgetId);
  if ((each === null) === (value === null)) return name;
  const message =
    each === null
      ? 'must be absent, because all calls of this budget share one limit'
      : `must be given: this budget has a limit for each ${each}`;
  throw invalidRequest([{ path: 'value', message }], 1);
}

/** Another replica may have stored it, or an owner ended it. */
function endedInTime(raise: Raise): Raise {
  return raise.state === 'active' ? { ...raise, state: 'ended', endedAt: raise.until } : raise;
}

function ended(raise: Raise, now: Date, { actor: { id, name } }: Cause): Raise {
  requireState(raise, 'active', now);
  return { ...raise, state: 'ended', endedBy: { id, name }, endedAt: now };
}

/** The raise, if there is room for it, or the same one if it was sent before. */
function placeOf(raise: Raise, { same, inForce, requested, ofAsker }: KnownRaises): Raise {
  if (same !== null) {
    if (isDeepStrictEqual(askedIn(same), askedIn(raise))) return same;
    const message =
      'Another request used this request_id with other content. Repeat a request unchanged, or use a new id.';
    throw new AppError('request_id_reused', message);
  }
  if (raise.state === 'active') {
    if (inForce >= MAX_RAISES) throw tooMany();
    return raise;
  }
  if (ofAsker >= MAX_REQUESTS_OF_ASKER) {
    const message = `You have ${MAX_REQUESTS_OF_ASKER} requests that are open or of the last hour, the maximum. Ask an owner to decide them, or ask again later.`;
    throw new AppError('rate_limited', message, { retryAfterSeconds: 600 });
  }
  if (requested >= MAX_RAISES) {
    const message = `The workspace has ${MAX_RAISES} open requests, the maximum. Ask an owner to decide them.`;
    throw new AppError('rate_limited', message, { retryAfterSeconds: 600 });
  }
  return raise;
}

function askedIn({ budgetId, value, askedMicros, askedUntil, reason }: Raise) {
  return { budgetId, value, askedMicros, askedUntil, reason };
}

function requirePossible(until: Date, now: Date): void {
  const problem = (message: string) => invalidRequest([{ path: 'until', message }], 1);
  if (until <= now) throw problem('must be in the future');
  if (until.getTime() > now.getTime() + MAX_RAISE_MS) throw problem(`must be at most ${MAX_RAISE_DAYS} days from now`);
}

function requireState(raise: Raise, needed: 'requested' | 'active', now: Date): void {
  const state = stateOf(raise, now);
  if (state !== needed) throw new AppError('conflict', whatBecameOf(raise, state));
}

function whatBecameOf(
  { until, decidedBy, decidedAt, endedBy, endedAt }: Raise,
  state: ReturnType<typeof stateOf>,
): string {
  const at = (time: Date | null) => time?.toISOString() ?? '';
  switch (state) {
    case 'requested':
      return 'Nobody has granted this request yet. Decline it instead.';
    case 'active':
      return `${decidedBy?.name} has approved this request at ${at(decidedAt)}. End the raise to take it back.`;
    case 'declined':
      return `${decidedBy?.name} has declined this request at ${at(decidedAt)}. Raise the limit anew to grant it.`;
    case 'ended':
      return endedBy === null
        ? `This raise has ended at ${at(until)}. Raise the limit anew.`
        : `${endedBy.name} has ended this raise at ${at(endedAt)}. Raise the limit anew.`;
    case 'expired':
      return `This request has expired at ${at(until)}, until when the raise was asked for. Raise the limit anew.`;
  }
}

function badToken(message: string): AppError {
  return invalidRequest([{ path: 'token', message }], 1);
}

function tooMany(): AppError {
  const message = `The workspace has ${MAX_RAISES} raises in force, the maximum. End one, or change the limit of the budget.`;
  return new AppError('conflict', message);
}

function noSuchRaise(): never {
  throw new AppError('not_found', 'This workspace has no raise with that raise_id.');
}
