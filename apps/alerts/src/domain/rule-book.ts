import { dailyBudgetId, haveLabels, type ScopeType } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { CountableEvent } from './event.ts';
import type { Rule } from './rule.ts';
import { thresholdsOf } from './rule-kinds.ts';

/** The rules of all workspaces. Enabled rules are indexed by what they count. */
export interface RuleBook {
  /** Number of enabled rules. */
  readonly size: number;
  /** Increases with every change. */
  readonly version: number;
  /** Replaces all rules of the workspace. */
  replace(tenantId: TenantId, rules: readonly Rule[]): void;
  /** The rule with this id, enabled or not, of any workspace: for windows, whose rules were found before. */
  get(ruleId: string): Rule | undefined;
  /** Whether an enabled rule of any workspace counts events of the type. For most events, this is the only check. */
  countsType(type: string): boolean;
  /** Whether an enabled rule of the workspace counts events of the type, from any agent. */
  counts(tenantId: string, type: string): boolean;
  /** The ids of the budgets that enabled rules are about, by workspace; only of workspaces with such rules. */
  readonly budgets: ReadonlyMap<TenantId, ReadonlySet<string>>;
  /** The rules that count the event: enabled, in scope, with matching filters, in force when it was received. */
  matching(event: CountableEvent): Rule[];
}

interface TenantRules {
  all: readonly Rule[];
  /**
   * Enabled rules by event type and agent, each {@link ANY} if the rule names none, so that an event finds exactly the
   * rules that count it, except for their labels. Rules that name percentages are indexed by {@link withPercent}, not
   * by their type alone.
   */
  byType: Map<string, Map<string, Rule[]>>;
}

/** Never the name of an agent or a type. */
const ANY = '*';

export function createRuleBook(): RuleBook {
  const byTenant = new Map<string, TenantRules>();
  const byId = new Map<string, Rule>();
  const budgets = new Map<TenantId, ReadonlySet<string>>();
  /** Number of workspaces with rules that count the type. */
  const tenantsOfType = new Map<string, number>();
  let enabledRules = 0;
  let version = 0;

  function set(tenantId: TenantId, rules: TenantRules | undefined): void {
    for (const type of byTenant.get(tenantId)?.byType.keys() ?? []) {
      const left = (tenantsOfType.get(type) ?? 0) - 1;
      if (left > 0) tenantsOfType.set(type, left);
      else tenantsOfType.delete(type);
    }
    if (rules === undefined) byTenant.delete(tenantId);
    else byTenant.set(tenantId, rules);
    for (const type of rules?.byType.keys() ?? []) tenantsOfType.set(type, (tenantsOfType.get(type) ?? 0) + 1);
  }

  return {
    get size() {
      return enabledRules;
    },
    get version() {
      return version;
    },
    replace(tenantId, rules) {
      version += 1;
      for (const { id, enabled } of byTenant.get(tenantId)?.all ?? []) {
        byId.delete(id);
        if (enabled) enabledRules -= 1;
      }
      set(tenantId, rules.length === 0 ? undefined : { all: rules, byType: indexed(rules) });
      const named = new Set(rules.flatMap(budgetIdsOf));
      if (named.size === 0) budgets.delete(tenantId);
      else budgets.set(tenantId, named);
      for (const rule of rules) {
        byId.set(rule.id, rule);
        if (rule.enabled) enabledRules += 1;
      }
    },
    get: (ruleId) => byId.get(ruleId),
    countsType: (type) => tenantsOfType.has(type) || tenantsOfType.has(ANY),
    counts(tenantId, type) {
      const byType = byTenant.get(tenantId)?.byType;
      return byType !== undefined && (byType.has(type) || byType.has(ANY));
    },
    budgets,
    matching({ tenantId, agentId, type, percent, labels, receivedAt }) {
      const matching: Rule[] = [];
      const byType = byTenant.get(tenantId)?.byType;
      const found = [byType?.get(type), byType?.get(ANY)];
      if (percent !== undefined) found.push(byType?.get(withPercent(type, percent)));
      for (const byAgent of found) {
        for (const rules of [byAgent?.get(ANY), agentId === undefined ? undefined : byAgent?.get(agentId)]) {
          for (const rule of rules ?? []) {
            if (receivedAt >= rule.effectiveAt.getTime() && haveLabels(labels, rule.labels)) matching.push(rule);
          }
        }
      }
      return matching;
    },
  };
}

const AGENT_OF: Record<ScopeType, (rule: Rule) => string> = {
  workspace: () => ANY,
  tenant: () => ANY,
  agent: ({ scopeId }) => scopeId,
};

/** The agent whose events the rule counts; {@link ANY} for all agents. */
function agentOf(rule: Rule): string {
  return AGENT_OF[rule.scopeType](rule);
}

const DAILY_BUDGET_OF: Record<ScopeType, (rule: Rule) => string> = {
  workspace: () => dailyBudgetId('workspace', ''),
  tenant: () => dailyBudgetId('workspace', ''),
  agent: ({ scopeId }) => dailyBudgetId('agent', scopeId),
};

/** Id of the daily budget of the rule's workspace or agent. */
export function dailyBudgetOf(rule: Rule): string {
  return DAILY_BUDGET_OF[rule.scopeType](rule);
}

function budgetIdsOf(rule: Rule): string[] {
  const { budgetId } = thresholdsOf(rule.condition);
  return rule.enabled && budgetId !== undefined ? [budgetId ?? dailyBudgetOf(rule)] : [];
}

/** The same for rules of a workspace that count the same events while all of them are in force. */
export function selectionOf(rule: Rule): string {
  const labels = Object.entries(rule.labels).sort();
  return JSON.stringify([agentOf(rule), rule.eventTypes.toSorted(), rule.percents.toSorted(), ...labels]);
}

/** Never equals a type, since no type contains a space. */
function withPercent(type: string, percent: number): string {
  return `${type} ${percent}`;
}

function indexed(rules: readonly Rule[]): TenantRules['byType'] {
  const byType = new Map<string, Map<string, Rule[]>>();
  for (const rule of rules.filter(({ enabled }) => enabled)) {
    const agent = agentOf(rule);
    for (const type of rule.eventTypes.length === 0 ? [ANY] : new Set(rule.eventTypes)) {
      // Added even if only rules with percentages count the type: `counts` and `countsType` look it up.
      if (!byType.has(type)) byType.set(type, new Map());
      for (const key of rule.percents.length === 0
        ? [type]
        : [...new Set(rule.percents)].map((each) => withPercent(type, each))) {
        const byAgent = byType.get(key) ?? new Map<string, Rule[]>();
        byType.set(key, byAgent.set(agent, [...(byAgent.get(agent) ?? []), rule]));
      }
    }
  }
  return byType;
}
