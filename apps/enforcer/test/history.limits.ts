import { BUDGET_SCOPES, type BudgetedCall, type BudgetScope, dailyBudgetId, type Labels } from '@tollkeeper/contracts';
import { provenTenantId } from '@tollkeeper/kernel';
import { type ActiveBudget, type ActiveBudgets, createActiveBudgets } from '../src/domain/active.budgets.ts';
import type { BudgetLimit, DailyLimit } from '../src/domain/limit.ts';
import type { BudgetSource } from '../src/domain/peers.ts';
import { createRaises, type Raise } from '../src/domain/raise.ts';
import type { ReservationRequest } from '../src/domain/reservation.ts';
import { picking } from './history.answers.ts';
import { budgetsFor, budgetsOf, type OfBudgets } from './history.budgets.ts';
import type { AccountName } from './reference.counts.ts';
import type { Reference } from './reference.ts';

export const TENANT = provenTenantId('ws_histories');
export const AGENTS = ['agent-a', 'agent-b'];
export const PLANS = ['basic', 'pro'];
export const LABELS: readonly Labels[] = [{}, {}, { team: 'growth' }, { team: 'sales', env: 'prod' }];

const SCOPE_IDS: Record<BudgetScope, readonly string[]> = { workspace: [TENANT], agent: AGENTS, plan: PLANS };
/** Each account of a day. */
export const ACCOUNTS: readonly AccountName[] = BUDGET_SCOPES.flatMap((scope) =>
  SCOPE_IDS[scope].map((scopeId) => ({ scope, scopeId })),
);

type Call = Pick<ReservationRequest, 'agentId' | 'planKey' | 'model' | 'labels'>;

export function callOf({ agentId: agent, planKey: plan, model, labels }: Call): BudgetedCall {
  return { agent, plan, model, provider: null, key: null, labels };
}

/** Budgets with a limit for each value, and such values. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  ...{ agents: AGENTS, teams: ['growth', 'sales'], models: ['large-1'] },
  'day-long': AGENTS,
};

/** Each call that differs in what budgets select by. */
const CALLS = AGENTS.flatMap((agentId) =>
  PLANS.flatMap((planKey) => LABELS.map((labels) => callOf({ agentId, planKey, model: 'large-1', labels }))),
);

/** The daily limits and the budgets of a history. They are made, changed and deleted in the middle. */
export class HistoryLimits {
  /** The highest daily limit of each account, Infinity if it was unset at some time. */
  readonly highest = new Map<string, number>();
  active: ActiveBudgets;
  /** Those before the last change. */
  before: ActiveBudgets;
  ticks = 0;
  private readonly daily = new Map<string, number>();
  private readonly everMade: readonly ActiveBudget[];
  private made: ActiveBudget[];
  private readonly reference: Reference;
  private readonly next: (below: number) => number;
  private readonly pick: ReturnType<typeof picking>;

  constructor(reference: Reference, next: (below: number) => number) {
    this.reference = reference;
    this.next = next;
    this.pick = picking(next);
    for (const name of ACCOUNTS) this.changeDaily(name);
    this.everMade = budgetsFor(reference.now);
    this.made = this.everMade.filter(() => next(3) > 0);
    this.active = this.answered();
    this.before = this.active;
  }

  /** What budgets answers now: the raises that have not ended, and all budgets. */
  private answered(): ActiveBudgets {
    const raises = this.reference.raises.filter(({ until }) => until > this.reference.now);
    return createActiveBudgets(this.made, this.tick(), { raises: createRaises(raises) });
  }

  /** A monotonic clock that gives the budgets one order, however little time passes between two of them. */
  tick(): number {
    this.ticks += 1;
    return this.ticks;
  }

  /** Has the active budgets. A stale source missed the last change. */
  source(isStale = false): BudgetSource {
    return {
      of: () => (isStale ? this.before : this.active),
      since: async () => this.answered(),
    };
  }

  changeDaily({ scopeId }: AccountName = this.pick(ACCOUNTS)): void {
    const micros = this.pick([null, 0, 40, 100, 200, 300]);
    this.daily.delete(scopeId);
    if (micros !== null) this.daily.set(scopeId, micros);
    this.noteHighest(ACCOUNTS.find((account) => account.scopeId === scopeId)!);
  }

  private noteHighest({ scope, scopeId }: AccountName): void {
    const extra = this.reference.raised(dailyBudgetId(scope, scopeId), '')?.micros ?? 0;
    const limit = (this.daily.get(scopeId) ?? Infinity) + extra;
    this.highest.set(scopeId, Math.max(this.highest.get(scopeId) ?? 0, limit));
  }

  /** Returns what is made now. */
  changeBudgets(): readonly ActiveBudget[] {
    const one = this.pick(this.everMade);
    const limitMicros = this.pick([0, 40, 100, 250]);
    const last = this.made.find(({ id }) => id === one.id) ?? one;
    const others = this.made.filter(({ id }) => id !== one.id);
    switch (this.next(4)) {
      case 0:
        this.made = others;
        break;
      case 1:
        // All spend is counted anew.
        this.made = [...others, { ...last, meter: `${one.id}.${this.next(3)}` }];
        break;
      case 2:
        if ('startDay' in last.period) {
          const fiscal = { startMonth: this.pick([1, 2, 3, 7]), startDay: this.pick([1, 2, 26, 28]) };
          this.made = [...others, { ...last, period: { ...last.period, ...fiscal } }];
        }
        break;
      default:
        this.made = [...others, { ...last, limitMicros, grantableMicros: limitMicros * this.pick([1, 2]) }];
    }
    this.before = this.active;
    this.active = this.answered();
    return this.made;
  }

  /** Raises a limit for a time that is often shorter than the next steps take, and ends another raise. */
  raise(): readonly Raise[] {
    const { raises, now } = this.reference;
    if (this.next(3) === 0) raises.splice(this.next(raises.length + 1), 1);
    const daily = ACCOUNTS.map(({ scope, scopeId }) => dailyBudgetId(scope, scopeId));
    const budgetId = this.pick([...daily, ...this.everMade.map(({ id }) => id)]);
    const value = this.pick(VALUES[budgetId] ?? ['']);
    const until = now + this.pick([1, 10, 600, 7_200, 90_000]) * 1_000;
    raises.push({ budgetId, value, extraMicros: this.pick([1, 30, 100]), until });
    for (const account of ACCOUNTS) this.noteHighest(account);
    this.before = this.active;
    this.active = this.answered();
    return raises;
  }

  dailyOf(account: AccountName): number | undefined {
    return this.daily.get(account.scopeId);
  }

  /** The daily limits of the accounts that have one. */
  dailyLimits(accounts: readonly AccountName[]): DailyLimit[] {
    return accounts.flatMap((account) => {
      const limitMicros = this.dailyOf(account);
      return limitMicros === undefined ? [] : [{ ...account, limitMicros }];
    });
  }

  budgetsOf(call: BudgetedCall): OfBudgets {
    return budgetsOf(this.active.all, call, this.reference.now);
  }

  /** Each budget that any call may be a part of, once. */
  allBudgets(): OfBudgets {
    const all = CALLS.flatMap((call) => this.budgetsOf(call));
    return [...new Map(all.map((each) => [`${each[0].meter}/${each[1]}`, each])).values()];
  }

  /** The limits of {@link allBudgets}. */
  allBudgetLimits(): BudgetLimit[] {
    return this.allBudgets().map(([{ meter }, value]) => this.active.limitOf(meter, value)!);
  }
}
