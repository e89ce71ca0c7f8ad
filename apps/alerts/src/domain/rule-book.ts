import type { TenantId } from '@tollkeeper/kernel';
import type { CountableEvent } from './event.ts';
import { matches, type Rule } from './rule.ts';

/** The enabled rules of all workspaces, found by what they count. */
export interface RuleBook {
  readonly size: number;
  /** Rises with every change. */
  readonly version: number;
  /** Puts these in place of all rules of the workspace; disabled ones are left out. */
  replace(tenantId: TenantId, rules: readonly Rule[]): void;
  /** Whether the workspace has an enabled rule. */
  watches(tenantId: string): boolean;
  /** The enabled rule with this id, whatever its workspace: for windows, which belong to rules that were found before. */
  get(ruleId: string): Rule | undefined;
  /** Whether an enabled rule of the workspace counts such events. */
  counts(tenantId: string, event: CountedBy): boolean;
  /** The rules that count the event: enabled, of its workspace and scope, and in force when it was received. */
  matching(event: CountableEvent): Rule[];
}

/** What decides whether a rule counts an event. */
type CountedBy = Pick<CountableEvent, 'type' | 'agentId'>;

interface TenantRules {
  all: Rule[];
  anyType: Rule[];
  byType: Map<string, Rule[]>;
}

export function createRuleBook(): RuleBook {
  const byTenant = new Map<string, TenantRules>();
  const byId = new Map<string, Rule>();
  let version = 0;

  /** Rules of the workspace that may count the event, by its type. */
  function candidates(tenantId: string, { type }: CountedBy): Rule[] {
    const rules = byTenant.get(tenantId);
    if (rules === undefined) return [];
    const { anyType } = rules;
    const ofType = rules.byType.get(type);
    return ofType === undefined ? anyType : [...ofType, ...anyType];
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
      byTenant.delete(tenantId);
      const enabled = rules.filter((rule) => rule.enabled);
      if (enabled.length === 0) return;
      byTenant.set(tenantId, indexed(enabled));
      for (const rule of enabled) byId.set(rule.id, rule);
    },
    watches: (tenantId) => byTenant.has(tenantId),
    get: (ruleId) => byId.get(ruleId),
    counts: (tenantId, event) => candidates(tenantId, event).some((rule) => matches(rule, event)),
    matching: (event) =>
      candidates(event.tenantId, event).filter(
        (rule) => matches(rule, event) && event.receivedAt >= rule.effectiveAt.getTime(),
      ),
  };
}

function indexed(rules: Rule[]): TenantRules {
  const byType = new Map<string, Rule[]>();
  for (const rule of rules) {
    for (const type of new Set(rule.eventTypes)) {
      const ofType = byType.get(type);
      if (ofType === undefined) byType.set(type, [rule]);
      else ofType.push(rule);
    }
  }
  return { all: rules, anyType: rules.filter((rule) => rule.eventTypes.length === 0), byType };
}
