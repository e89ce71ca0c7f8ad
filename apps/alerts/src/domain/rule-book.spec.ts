import { describe, expect, it } from '@jest/globals';
import type { Labels } from '@tollkeeper/contracts';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import fc from 'fast-check';
import type { CountableEvent } from './event.ts';
import { createRuleBook } from './rule-book.ts';
import { eventAt, ruleOf } from '../../test/fixtures.ts';
import type { Rule } from './rule.ts';

const TENANTS = ['ws_a', 'ws_b', 'ws_c'].map(provenTenantId);
const TYPES = ['budget.blocked', 'guard.blocked', 'tool.failed'];

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
          const changed = change.rules.map((rule, index) => ruleOf({ id: `${tenantId}_${index}`, tenantId, ...rule }));
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

  it('finds the rules that count an event: enabled, of its workspace, type and agent, from when they are in force', () => {
    const [tenantId, other] = TENANTS as [TenantId, TenantId];
    const agent = { scopeType: 'agent', scopeId: 'planner' } as const;
    const book = createRuleBook();
    book.replace(tenantId, [
      ruleOf({ id: 'all', tenantId }),
      ruleOf({ id: 'type', tenantId, eventTypes: ['tool.failed', 'guard.blocked', 'tool.failed'] }),
      ruleOf({ id: 'agent', tenantId, ...agent }),
      ruleOf({ id: 'agent and type', tenantId, ...agent, eventTypes: ['tool.failed'] }),
      ruleOf({ id: 'disabled', tenantId, enabled: false }),
      ruleOf({ id: 'later', tenantId, effectiveAt: new Date(1000) }),
    ]);
    book.replace(other, [ruleOf({ id: 'other', tenantId: other })]);
    const matching = (receivedAt: number, given: Partial<CountableEvent>) =>
      book.matching(eventAt(0, { tenantId, receivedAt, ...given })).map(({ id }) => id);

    expect(matching(999, { type: 'tool.failed', agentId: 'planner' }).sort()).toEqual([
      ...['agent', 'agent and type', 'all', 'type'],
    ]);
    expect(matching(999, { type: 'tool.failed', agentId: 'coder' }).sort()).toEqual(['all', 'type']);
    expect(matching(999, { type: 'tool.failed' }).sort()).toEqual(['all', 'type']);
    expect(matching(999, { type: 'tool.called', agentId: 'planner' }).sort()).toEqual(['agent', 'all']);
    expect(matching(1000, { type: 'tool.called' }).sort()).toEqual(['all', 'later']);
    expect(matching(1000, { tenantId: TENANTS[2]! })).toEqual([]);
  });

  it('finds the rules that count the percent of a budget that an event says, and those that count any', () => {
    const [tenantId] = TENANTS as [TenantId];
    const type = 'budget.threshold_reached';
    const book = createRuleBook();
    book.replace(tenantId, [
      ruleOf({ id: 'any', tenantId, eventTypes: [type] }),
      ruleOf({ id: '80', tenantId, eventTypes: [type], percents: [80] }),
      ruleOf({ id: '50 or 100', tenantId, eventTypes: [type], percents: [50, 100] }),
    ]);
    const matching = (percent: number | undefined) =>
      book.matching(eventAt(0, { tenantId, type, percent })).map(({ id }) => id);

    expect(matching(80).sort()).toEqual(['80', 'any']);
    expect(matching(100).sort()).toEqual(['50 or 100', 'any']);
    expect(matching(79)).toEqual(['any']);
    expect(matching(undefined)).toEqual(['any']);
    book.replace(tenantId, [ruleOf({ tenantId, eventTypes: [type], percents: [80] })]);
    expect([book.countsType(type), book.counts(tenantId, type), matching(undefined)]).toEqual([true, true, []]);
  });

  it('finds the rules with filters of labels only for events that have all of them', () => {
    const [tenantId] = TENANTS as [TenantId];
    const book = createRuleBook();
    book.replace(tenantId, [
      ruleOf({ id: 'any', tenantId }),
      ruleOf({ id: 'growth', tenantId, labels: { team: 'growth' } }),
      ruleOf({ id: 'gr* in prod', tenantId, labels: { team: 'gr*', env: 'prod' } }),
    ]);
    const matching = (labels: Labels) => book.matching(eventAt(0, { tenantId, labels })).map(({ id }) => id);

    expect(matching({})).toEqual(['any']);
    expect(matching({ team: 'growth', env: 'dev' })).toEqual(['any', 'growth']);
    expect(matching({ team: 'grid', env: 'prod', user: 'zoe' })).toEqual(['any', 'gr* in prod']);
    expect(matching({ team: 'Growth' })).toEqual(['any']);
    expect(matching({ env: 'prod' })).toEqual(['any']);
  });

  it('knows every rule by its id, enabled or not, until it is gone, and says that something changed', () => {
    const [tenantId] = TENANTS as [TenantId];
    const book = createRuleBook();
    const rule = ruleOf({ tenantId, enabled: false });
    const before = book.version;
    book.replace(tenantId, [rule]);
    const between = book.version;
    expect(book.get(rule.id)).toBe(rule);
    book.replace(tenantId, []);
    expect(book.get(rule.id)).toBeUndefined();
    expect([between > before, book.version > between]).toEqual([true, true]);
  });
});
