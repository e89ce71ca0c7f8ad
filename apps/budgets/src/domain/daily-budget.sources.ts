import { type Cause, dailyBudgetId, toBudgetPeriod } from '@tollkeeper/contracts';
import type { Clock, TenantId } from '@tollkeeper/kernel';
import type { BudgetDraft } from './budget.ts';
import { type AgentDirectory, type DailyBudgetStore, isSet, type SetAgentBudget } from './daily-budget.ts';
import { type BudgetSource, type ListedBudget, partOf, requireEditable } from './listed-budget.ts';
import type { Plan, PlanStore } from './plan.ts';

/** What is the same for all daily budgets. */
const DAILY = {
  description: '',
  each: null,
  overrides: null,
  period: toBudgetPeriod({ kind: 'day' }),
  action: 'deny',
  gracePercent: 0,
  tellAt: null,
  isActive: true,
  createdAt: null,
  updatedAt: null,
} satisfies Partial<ListedBudget>;

const EDITABLE = ['limit_micros'];
const EDITABLE_OF_PLAN = [...EDITABLE, 'name', 'description', 'is_active'];

/** The most characters of the name of a budget. An agent without a name has its id as one, which may be longer. */
const MAX_NAME = 120;

const WORKSPACE_ID = dailyBudgetId('workspace', '');
const AGENT_PREFIX = dailyBudgetId('agent', '');
const PLAN_PREFIX = dailyBudgetId('plan', '');

const afterPrefix = (prefix: string) => (id: string) => (id.startsWith(prefix) ? id.slice(prefix.length) : null);

/** The daily budget of the workspace. Its key is empty, because there is only one. */
export function createWorkspaceSource(store: DailyBudgetStore): BudgetSource {
  const keyOf = (id: string): string | null => (id === WORKSPACE_ID ? '' : null);

  async function find(tenantId: TenantId): Promise<ListedBudget | null> {
    const limitMicros = await store.ofWorkspace(tenantId);
    if (limitMicros === null) return null;
    return { ...DAILY, id: WORKSPACE_ID, origin: 'workspace', name: 'Workspace', selector: {}, limitMicros };
  }

  const set = (tenantId: TenantId, micros: number | null, cause: Cause) =>
    store.setWorkspace(tenantId, micros, { ...cause, action: 'budget.workspace.set' }, { onlyIfSet: true });

  return {
    keyOf,
    async list(tenantId, part) {
      const budget = await find(tenantId);
      return budget === null ? [] : partOf([budget], part, keyOf);
    },
    find,
    async edit(tenantId, _key, edit, cause) {
      const current = await find(tenantId);
      if (current === null) return null;
      const { limitMicros } = editedOf(current, edit, EDITABLE);
      return (await set(tenantId, limitMicros, cause)) ? { ...current, limitMicros } : null;
    },
    delete: (tenantId, _key, cause) => set(tenantId, null, cause),
  };
}

export interface AgentSourceDeps {
  store: DailyBudgetStore;
  agents: AgentDirectory;
  clock: Clock;
}

/** The daily budgets of agents, by `agent_id`. Their names are those of the agents, which identity knows. */
export function createAgentSource({ store, agents, clock }: AgentSourceDeps): BudgetSource {
  async function named(tenantId: TenantId, budgets: readonly SetAgentBudget[]): Promise<ListedBudget[]> {
    if (budgets.length === 0) return [];
    const ids = budgets.map(({ agentId }) => agentId);
    const known = new Map((await agents.find(tenantId, ids)).map((agent) => [agent.agentId, agent.displayName]));
    return budgets.map(({ agentId, dailyBudgetMicros, updatedAt }) => ({
      ...DAILY,
      id: `${AGENT_PREFIX}${agentId}`,
      origin: 'agent',
      name: (known.get(agentId) ?? agentId).slice(0, MAX_NAME),
      selector: { agent: agentId },
      limitMicros: dailyBudgetMicros,
      updatedAt,
    }));
  }

  async function find(tenantId: TenantId, agentId: string): Promise<ListedBudget | null> {
    const stored = await store.ofAgents(tenantId, [agentId]);
    const [budget] = await named(tenantId, stored.filter(isSet));
    return budget ?? null;
  }

  async function set(tenantId: TenantId, agentId: string, current: ListedBudget, micros: number | null, cause: Cause) {
    const updatedAt = new Date(clock());
    const budget = { agentId, displayName: current.name, dailyBudgetMicros: micros, updatedAt };
    const isStored = await store.setAgent(
      tenantId,
      budget,
      { ...cause, action: 'budget.agent.set' },
      { onlyIfSet: true },
    );
    return isStored ? updatedAt : null;
  }

  return {
    keyOf: afterPrefix(AGENT_PREFIX),
    async list(tenantId, { isActive = true, after, limit }) {
      return isActive ? named(tenantId, await store.listSetAgents(tenantId, limit, after)) : [];
    },
    find,
    async edit(tenantId, agentId, edit, cause) {
      const current = await find(tenantId, agentId);
      if (current === null) return null;
      const { limitMicros } = editedOf(current, edit, EDITABLE);
      const updatedAt = await set(tenantId, agentId, current, limitMicros, cause);
      return updatedAt && { ...current, limitMicros, updatedAt };
    },
    async delete(tenantId, agentId, cause) {
      const current = await find(tenantId, agentId);
      return current !== null && (await set(tenantId, agentId, current, null, cause)) !== null;
    },
  };
}

/** The plans, by `plan_key`. */
export function createPlanSource({ store, clock }: { store: PlanStore; clock: Clock }): BudgetSource {
  const keyOf = afterPrefix(PLAN_PREFIX);

  async function find(tenantId: TenantId, key: string): Promise<ListedBudget | null> {
    const [plan] = await store.find(tenantId, [key]);
    return plan === undefined ? null : ofPlan(plan);
  }

  return {
    keyOf,
    list: async (tenantId, part) => partOf((await store.list(tenantId)).map(ofPlan), part, keyOf),
    find,
    async edit(tenantId, key, edit, cause) {
      const current = await find(tenantId, key);
      if (current === null) return null;
      const edited = editedOf(current, edit, EDITABLE_OF_PLAN);
      // Only what differs is written, so that edits of different fields at the same time all take effect.
      const changed = <T>(read: (of: BudgetDraft) => T) => (read(edited) === read(current) ? undefined : read(edited));
      const changes = {
        displayName: changed(({ name }) => name),
        description: changed(({ description }) => description),
        dailyBudgetMicros: changed(({ limitMicros }) => limitMicros),
        isActive: changed(({ isActive }) => isActive),
        updatedAt: new Date(clock()),
      };
      const plan = await store.update(tenantId, key, changes, { ...cause, action: 'plan.update' });
      return plan && ofPlan(plan);
    },
    delete: (tenantId, key, cause) => store.delete(tenantId, key, { ...cause, action: 'plan.delete' }),
  };
}

function ofPlan({
  key,
  displayName,
  description,
  dailyBudgetMicros,
  isActive,
  createdAt,
  updatedAt,
}: Plan): ListedBudget {
  return {
    ...DAILY,
    id: `${PLAN_PREFIX}${key}`,
    origin: 'plan',
    name: displayName,
    description,
    selector: { plan: key },
    limitMicros: dailyBudgetMicros,
    isActive,
    createdAt,
    updatedAt,
  };
}

/** The edited budget. Throws `conflict` if another field than the `editable` ones would change. */
function editedOf(
  current: ListedBudget,
  edit: (current: BudgetDraft) => BudgetDraft,
  editable: readonly string[],
): BudgetDraft {
  const edited = edit(current);
  requireEditable(current, edited, editable);
  return edited;
}
