import type { TenantId } from '@tollkeeper/kernel';
import type { CountableEvent } from './event.ts';
import type { Rule } from './rule.ts';

/** The enabled rules of all workspaces, found by what they count. */
export interface RuleBook {
  readonly size: number;
  /** Rises with every change. */
  readonly version: number;
  /** Puts these in place of all rules of the workspace; disabled ones are left out. */
  replace(tenantId: TenantId, rules: readonly Rule[]): void;
  /** The enabled rule with this id, whatever its workspace: for windows, which belong to rules that were found before. */
  get(ruleId: string): Rule | undefined;
  /** Whether an enabled rule of any workspace counts events of the type: for most events of a log this is all that is asked. */
  countsType(type: string): boolean;
  /** Whether an enabled rule of the workspace counts events of the type, of whatever agent. */
  counts(tenantId: string, type: string): boolean;
  /** The rules that count the event: enabled, of its workspace and scope, and in force when it was received. */
  matching(event: CountableEvent): Rule[];
}

interface TenantRules {
  all: Rule[];
  /**
   * By the types that a rule counts and the agent that it is about, each {@link ANY} where it names none, so that an event
   * finds those that count it and no other.
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
      return byId.size;
    },
    get version() {
      return version;
    },
    replace(tenantId, rules) {
      version += 1;
      for (const { id } of byTenant.get(tenantId)?.all ?? []) byId.delete(id);
      const enabled = rules.filter((rule) => rule.enabled);
      set(tenantId, enabled.length === 0 ? undefined : indexed(enabled));
      for (const rule of enabled) byId.set(rule.id, rule);
    },
    get: (ruleId) => byId.get(ruleId),
    countsType: (type) => tenantsOfType.has(type) || tenantsOfType.has(ANY),
    counts(tenantId, type) {
      const byType = byTenant.get(tenantId)?.byType;
      return byType !== undefined && (byType.has(type) || byType.has(ANY));
    },
    matching({ tenantId, agentId, type, receivedAt }) {
      const matching: Rule[] = [];
      const byType = byTenant.get(tenantId)?.byType;
      for (const byAgent of [byType?.get(type), byType?.get(ANY)]) {
        for (const rules of [byAgent?.get(ANY), agentId === undefined ? undefined : byAgent?.get(agentId)]) {
          for (const rule of rules ?? []) if (receivedAt >= rule.effectiveAt.getTime()) matching.push(rule);
        }
      }
      return matching;
    },
  };
}

function indexed(rules: Rule[]): TenantRules {
  const byType = new Map<string, Map<string, Rule[]>>();
  for (const rule of rules) {
    const agent = rule.scopeType === 'agent' ? rule.scopeId : ANY;
    for (const type of rule.eventTypes.length === 0 ? [ANY] : new Set(rule.eventTypes)) {
      const byAgent = byType.get(type) ?? new Map<string, Rule[]>();
      byType.set(type, byAgent.set(agent, [...(byAgent.get(agent) ?? []), rule]));
    }
  }
  return { all: rules, byType };
}
