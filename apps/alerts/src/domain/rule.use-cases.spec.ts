import { describe, expect, it } from '@jest/globals';
import { systemCause } from '@tollkeeper/contracts';
import { ruleOf } from '../../test/fixtures.ts';
import {
  MAX_NOTIFIED_CHANNELS,
  MAX_RULES,
  MAX_WINDOW_BYTES,
  type Rule,
  type RuleDraft,
  type RuleFacts,
} from './rule.ts';
import { createRuleUseCases } from './rule.use-cases.ts';

const NOW = Date.parse('2026-11-21T18:00:00.000Z');
const CAUSE = systemCause('rule.update', 'test');
const before = ruleOf({ id: 'rule_old', enabled: true });
const { tenantId } = before;

/**
 * The use cases of a workspace whose state is `given`, and becomes `meanwhile` before a change is stored. `planner` is
 * the only agent of the workspace.
 */
function useCases(given: Partial<RuleFacts> = {}, meanwhile = given) {
  const facts = { current: null, ruleCount: 0, others: [], channelIds: new Set<string>(), ...meanwhile };
  return createRuleUseCases({
    store: {
      list: async () => [],
      find: async () => given.current ?? null,
      change: async (_tenantId, _ruleId, _found, decide) => decide(facts),
      delete: async () => false,
    },
    evaluations: { list: async () => [] },
    agents: { has: async (_tenantId, agentId) => agentId === 'planner' },
    channels: { find: async () => [] },
    readBudgets: async () => new Map(),
    clock: () => NOW,
  });
}

const create = (draft: Partial<Rule>, facts: Partial<RuleFacts> = {}) =>
  useCases(facts).create(tenantId, ruleOf({ name: 'New', ...draft }), CAUSE);
const edit = (change: Partial<Rule>, facts: Partial<RuleFacts> = {}) =>
  useCases({ current: before, ...facts }).edit(tenantId, before.id, (current) => ({ ...current, ...change }), CAUSE);

/** Rules that count events: the threshold takes 16 bytes for each event. */
const costing = (bytes: number) => ruleOf({ condition: { kind: 'event_count_gte', threshold: bytes / 16 } });
const conflict = (part: string) =>
  expect.objectContaining({ code: 'conflict', message: expect.stringContaining(part) });

describe('a workspace', () => {
  it('has up to 1000 rules', async () => {
    await expect(create({}, { ruleCount: MAX_RULES - 1 })).resolves.toMatchObject({ name: 'New' });
    await expect(create({}, { ruleCount: MAX_RULES })).rejects.toEqual(conflict('1000 rules'));
  });

  it('has windows up to the memory that they may take, and no byte more', async () => {
    const { condition } = costing(1600);
    await expect(create({ condition }, { others: [costing(MAX_WINDOW_BYTES - 1600)] })).resolves.toBeDefined();
    const full = { others: [costing(MAX_WINDOW_BYTES - 1584)] };
    const message = conflict(`could take 80000016 bytes of memory; the maximum is 80000000. This rule takes 1600`);
    await expect(create({ condition }, full)).rejects.toEqual(message);
    await expect(create({ condition, enabled: false }, full)).resolves.toBeDefined();
  });

  it('that has windows of too much memory may edit what takes no more than before', async () => {
    const others = [costing(MAX_WINDOW_BYTES)];
    const current = costing(1600);
    const same = { name: 'Renamed' };
    await expect(edit(same, { current, others })).resolves.toMatchObject(same);
    const more = { condition: costing(1616).condition };
    await expect(edit(more, { current, others })).rejects.toEqual(conflict('bytes of memory'));
    const disabled = { ...current, enabled: false };
    await expect(edit({ enabled: true }, { current: disabled, others })).rejects.toEqual(conflict('bytes of memory'));
  });

  it('notifies up to 5000 channels with its enabled rules, and not one more', async () => {
    const channelIds = ['chan_1'];
    const facts = (notified: number) => ({
      ...{ others: [ruleOf({ channelIds: Array.from({ length: notified }, () => 'chan_1') })] },
      ...{ channelIds: new Set(channelIds) },
    });
    await expect(create({ channelIds }, facts(MAX_NOTIFIED_CHANNELS - 1))).resolves.toMatchObject({ channelIds });
    const full = facts(MAX_NOTIFIED_CHANNELS);
    await expect(create({ channelIds }, full)).rejects.toEqual(conflict('would name 5001 channels'));
    await expect(create({ channelIds, enabled: false }, full)).resolves.toBeDefined();
  });
});

describe('a rule', () => {
  it('begins as the first revision, in force from its creation on', async () => {
    const now = new Date(NOW);
    await expect(create({})).resolves.toMatchObject({
      ...{ id: expect.stringMatching(/^rule_/), revision: 1, lastFiredAt: null },
      ...{ createdAt: now, updatedAt: now, effectiveAt: now },
    });
  });

  it('gets a new revision, in force from then on, with an edit that lets it start empty, and with no other', async () => {
    const now = new Date(NOW);
    const restarted = { revision: before.revision + 1, effectiveAt: now, updatedAt: now };
    await expect(edit({ windowSeconds: 61 })).resolves.toMatchObject(restarted);
    const { revision, effectiveAt } = before;
    await expect(edit({ name: 'Renamed' })).resolves.toMatchObject({ revision, effectiveAt, updatedAt: now });
  });

  it('is about its own workspace or an agent of it, and notifies its own channels: an error names everything else', async () => {
    await expect(create({ scopeType: 'agent', scopeId: 'planner' })).resolves.toBeDefined();
    const foreign = { scopeId: 'ws_2', channelIds: ['chan_1', 'chan_2'] };
    await expect(create(foreign, { channelIds: new Set(['chan_1']) })).rejects.toMatchObject({
      code: 'invalid_request',
      message:
        'The rule is not valid for this workspace: scope_id must be ws_1, the id of this workspace, ' +
        'channel_config_ids[1] must be a channel of this workspace.',
      details: [
        { path: 'scope_id', message: 'must be ws_1, the id of this workspace' },
        { path: 'channel_config_ids[1]', message: 'must be a channel of this workspace' },
      ],
    });
    // In the second case, the id of the workspace is used as that of an agent.
    for (const scope of [{ scopeId: 'nobody' }, {}]) {
      await expect(edit({ scopeType: 'agent', ...scope })).rejects.toMatchObject({
        ...{ code: 'invalid_request', details: [{ path: 'scope_id', message: 'must be an agent of this workspace' }] },
      });
    }
  });

  it('of an agent that is gone can still be edited, with its scope as it is', async () => {
    const current = ruleOf({ scopeType: 'agent', scopeId: 'gone' });
    await expect(edit({ name: 'Renamed' }, { current })).resolves.toMatchObject({ name: 'Renamed' });
  });

  it('that keeps its channels has those of another edit, and asks for a new try where it would undo that', async () => {
    const [current, meanwhile] = [ruleOf({ channelIds: ['chan_1'] }), ruleOf({ channelIds: ['chan_2'] })];
    const facts = { current: meanwhile, ruleCount: 1, others: [], channelIds: new Set<string>() };
    const racing = (change: Partial<RuleDraft>) =>
      useCases({ current }, facts).edit(tenantId, current.id, (draft) => ({ ...draft, ...change }), CAUSE);
    await expect(racing({ name: 'Renamed' })).resolves.toMatchObject({ name: 'Renamed', channelIds: ['chan_2'] });
    await expect(racing({ channelIds: ['chan_1'] })).rejects.toEqual(conflict('changed by another request'));
  });

  it('that another edit moves meanwhile to a scope that nobody asked about stays as that edit left it', async () => {
    const facts = { current: before, ruleCount: 1, others: [], channelIds: new Set<string>() };
    let reads = 0;
    const move = (current: RuleDraft): RuleDraft => {
      reads += 1;
      return { ...current, scopeType: 'agent', scopeId: reads === 1 ? 'planner' : 'unknown' };
    };
    const racing = useCases(facts).edit(tenantId, before.id, move, CAUSE);
    await expect(racing).rejects.toEqual(conflict('changed by another request'));
  });

  it('that is deleted while it is edited is not found', async () => {
    const deleted = useCases({ current: before }, {}).edit(tenantId, before.id, (current) => current, CAUSE);
    await expect(deleted).rejects.toMatchObject({ code: 'not_found' });
  });

  it('that is not there is not found, for any use', async () => {
    const none = useCases();
    const notFound = expect.objectContaining({ code: 'not_found' });
    await expect(none.get(tenantId, 'rule_x')).rejects.toEqual(notFound);
    await expect(none.edit(tenantId, 'rule_x', (current) => current, CAUSE)).rejects.toEqual(notFound);
    await expect(none.delete(tenantId, 'rule_x', CAUSE)).rejects.toEqual(notFound);
    await expect(none.evaluations(tenantId, 'rule_x')).rejects.toEqual(notFound);
  });
});
