import type { ScopeType } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { CountableEvent } from './event.ts';
import type { Rule } from './rule.ts';

/** The rules of all workspaces, the enabled ones found by what they count. */
export interface RuleBook {
  /** Enabled rules. */
  readonly size: number;
  /** Rises with every change. */
  readonly version: number;
  /** Puts these in place of all rules of the workspace. */
  replace(tenantId: TenantId, rules: readonly Rule[]): void;
  /**
   * The rule with this id, enabled or not, whatever its workspace: for windows, which belong to rules that were found
   * before.
   */
  get(ruleId: string): Rule | undefined;
  /**
   * Whether an enabled rule of any workspace counts events of the type: for most events of a log this is all that is
   * asked.
   */
  countsType(type: string): boolean;
  /** Whether an enabled rule of the workspace counts events of the type, of whatever agent. */
  counts(tenantId: string, type: string): boolean;
  /**
   * The rules that count the event: enabled, of its workspace, scope and filters, and in force when it was received.
   */
  matching(event: CountableEvent): Rule[];
}

interface TenantRules {
  all: readonly Rule[];
  /**
   * Of the enabled rules: by the types that a rule counts and the agent that it is about, each {@link ANY} where it
   * names none, so that an event finds those that count it and no other. Rules that name percents are found by
   * {@link withPercent}; under their type alone there are none of them.
   */
  byType: Map<string, Map<string, Rule[]>>;
}

/** No agent and no type is called so. */
const ANY = '*';

export function createRuleBook(): RuleBook {
  const byTenant = new Map<string, TenantRules>();
  const byId = new Map<string, Rule>();
  /** How many workspaces have rules that count the type. */
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
    matching({ tenantId, agentId, type, percent, receivedAt }) {
      const matching: Rule[] = [];
      const byType = byTenant.get(tenantId)?.byType;
      const found = [byType?.get(type), byType?.get(ANY)];
      if (percent !== undefined) found.push(byType?.get(withPercent(type, percent)));
      for (const byAgent of found) {
        for (const rules of [byAgent?.get(ANY), agentId === undefined ? undefined : byAgent?.get(agentId)]) {
          for (const rule of rules ?? []) if (receivedAt >= rule.effectiveAt.getTime()) matching.push(rule);
        }
      }
      return matching;
    },
  };
}

/** The agent whose events the rule counts. */
const AGENT_OF: Record<ScopeType, (rule: Rule) => string> = {
  workspace: () => ANY,
  tenant: () => ANY,
  agent: ({ scopeId }) => scopeId,
};

/** No type is called so: none has a space. */
function withPercent(type: string, percent: number): string {
  return `${type} ${percent}`;
}

function indexed(rules: readonly Rule[]): TenantRules['byType'] {
  const byType = new Map<string, Map<string, Rule[]>>();
  for (const rule of rules.filter(({ enabled }) => enabled)) {
    const agent = AGENT_OF[rule.scopeType](rule);
    for (const type of rule.eventTypes.length === 0 ? [ANY] : new Set(rule.eventTypes)) {
      // There even when only rules with percents count it: it is what `counts` and `countsType` look for.
      if (!byType.has(type)) byType.set(type, new Map());
      for (const key of rule.percents.length === 0 ? [type] : rule.percents.map((each) => withPercent(type, each))) {
        const byAgent = byType.get(key) ?? new Map<string, Rule[]>();
        byType.set(key, byAgent.set(agent, [...(byAgent.get(agent) ?? []), rule]));
      }
    }
  }
  return byType;
}
