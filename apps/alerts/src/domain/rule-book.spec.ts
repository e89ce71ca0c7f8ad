import { describe, expect, it } from '@jest/globals';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import fc from 'fast-check';
import { createRuleBook } from './rule-book.ts';
import type { Rule } from './rule.ts';

const TENANTS = ['ws_a', 'ws_b', 'ws_c'].map(provenTenantId);
const TYPES = ['budget.blocked', 'guard.blocked', 'tool.failed'];

function ruleOf(
  tenantId: TenantId,
  index: number,
  { eventTypes, enabled }: Pick<Rule, 'eventTypes' | 'enabled'>,
): Rule {
  return {
    ...{
      id: `rule_${tenantId}_${index}`,
      tenantId,
      name: 'A rule',
      description: '',
      severity: 'high',
      enabled,
      eventTypes,
    },
    ...{
      scopeType: 'workspace',
      scopeId: tenantId,
      condition: { kind: 'event_count_gte', threshold: 1 },
      windowSeconds: 60,
    },
    ...{ cooldownSeconds: 0, channelIds: [], lastFiredAt: null, revision: 1 },
    ...{ createdAt: new Date(0), updatedAt: new Date(0), effectiveAt: new Date(0) },
  };
}

const rules = fc.array(fc.record({ eventTypes: fc.subarray(TYPES), enabled: fc.boolean() }), { maxLength: 3 });
const changes = fc.array(fc.record({ tenant: fc.nat(TENANTS.length - 1), rules }), { maxLength: 12 });

describe('the rule book', () => {
  it('knows after every change which workspaces count a type, and whether any does', () => {
    fc.assert(
      fc.property(changes, (made) => {
        const book = createRuleBook();
        const now = new Map<TenantId, Rule[]>();
        for (const change of made) {
          const tenantId = TENANTS[change.tenant]!;
          const changed = change.rules.map((rule, index) => ruleOf(tenantId, index, rule));
          book.replace(tenantId, changed);
          now.set(tenantId, changed);
        }
        const counts = (tenantId: TenantId, type: string) =>
          (now.get(tenantId) ?? []).some(
            ({ enabled, eventTypes }) => enabled && (eventTypes.length === 0 || eventTypes.includes(type)),
          );
        for (const type of TYPES) {
          for (const tenantId of TENANTS) expect(book.counts(tenantId, type)).toBe(counts(tenantId, type));
          expect(book.countsType(type)).toBe(TENANTS.some((tenantId) => counts(tenantId, type)));
        }
        expect(book.size).toBe([...now.values()].flat().filter(({ enabled }) => enabled).length);
      }),
      { numRuns: 500 },
    );
  });
});
