import type { Cause, ChannelSummary } from '@tollkeeper/contracts';
import { AppError, type Clock, type ErrorDetail, newId, type TenantId } from '@tollkeeper/kernel';
import type { BudgetReader } from './budget.terms.ts';
import type { Evaluation, EvaluationStore } from './evaluation.ts';
import {
  MAX_NOTIFIED_CHANNELS,
  MAX_RULES,
  MAX_WINDOW_BYTES,
  mostChannels,
  namedChannels,
  type Rule,
  type RuleDraft,
  type RuleFacts,
  type RuleStore,
  startsEmpty,
} from './rule.ts';
import { costOf, thresholdsOf, wayToLowerCost } from './rule-kinds.ts';

/** What people can do with rules. Every method rejects with `not_found` for a rule of another workspace. */
export interface RuleUseCases {
  list(tenantId: TenantId): Promise<Rule[]>;
  get(tenantId: TenantId, ruleId: string): Promise<Rule>;
  /**
   * Rejects with `invalid_request` for a scope or channel outside the workspace, with `conflict` if the workspace has
   * {@link MAX_RULES} rules or would exceed {@link MAX_WINDOW_BYTES} or {@link MAX_NOTIFIED_CHANNELS}.
   */
  create(tenantId: TenantId, draft: RuleDraft, cause: Cause): Promise<Rule>;
  /** `edit` makes the new rule from the current one and may run again on a newer one. Rejects as `create` does. */
  edit(tenantId: TenantId, ruleId: string, edit: (current: RuleDraft) => RuleDraft, cause: Cause): Promise<Rule>;
  /** Keeps the alerts of the rule in the history. */
  delete(tenantId: TenantId, ruleId: string, cause: Cause): Promise<void>;
  /** The last decisions of the rule, newest first. */
  evaluations(tenantId: TenantId, ruleId: string): Promise<Evaluation[]>;
}

/** Questions about agents, which identity answers. */
export interface AgentDirectory {
  has(tenantId: TenantId, agentId: string): Promise<boolean>;
}

/** Questions about channels, which the notifier answers. */
export interface ChannelDirectory {
  /** The channels among these ids that exist. */
  find(tenantId: TenantId, channelIds: readonly string[]): Promise<ChannelSummary[]>;
}

export interface RuleUseCaseDeps {
  store: RuleStore;
  evaluations: EvaluationStore;
  agents: AgentDirectory;
  channels: ChannelDirectory;
  readBudgets: BudgetReader;
  clock: Clock;
}

export function createRuleUseCases(deps: RuleUseCaseDeps): RuleUseCases {
  const { store, evaluations, agents, channels, readBudgets, clock } = deps;

  async function get(tenantId: TenantId, ruleId: string): Promise<Rule> {
    const rule = await store.find(tenantId, ruleId);
    if (rule === null) throw noSuchRule();
    return rule;
  }

  async function scopeProblems(tenantId: TenantId, { scopeType, scopeId }: RuleDraft): Promise<ErrorDetail[]> {
    const unless = (isKnown: boolean, message: string) => (isKnown ? [] : [{ path: 'scope_id', message }]);
    switch (scopeType) {
      case 'workspace':
      case 'tenant':
        return unless(scopeId === tenantId, `must be ${tenantId}, the id of this workspace`);
      case 'agent':
        return unless(await agents.has(tenantId, scopeId), 'must be an agent of this workspace');
    }
  }

  async function budgetProblems(tenantId: TenantId, { condition }: RuleDraft): Promise<ErrorDetail[]> {
    const { budgetId } = thresholdsOf(condition);
    if (budgetId === undefined || budgetId === null) return [];
    if ((await readBudgets(tenantId)).has(budgetId)) return [];
    return [{ path: 'rule_config.budget_id', message: 'must be an active budget of this workspace' }];
  }

  return {
    list: (tenantId) => store.list(tenantId),
    get,

    async create(tenantId, draft, cause) {
      const problems = [...(await scopeProblems(tenantId, draft)), ...(await budgetProblems(tenantId, draft))];
      const named = namedChannels(draft);
      const found = await channels.find(tenantId, named);
      const id = newId('rule');
      const decide = (facts: RuleFacts): Rule => {
        if (facts.ruleCount >= MAX_RULES) {
          throw new AppError('conflict', `The workspace has ${MAX_RULES} rules. Delete one that is not needed.`);
        }
        requireNone([...problems, ...channelProblems(draft, named, facts)]);
        requireRoom(draft, facts);
        const now = new Date(clock());
        const made = { createdAt: now, updatedAt: now, lastFiredAt: null, revision: 1, effectiveAt: now };
        return { ...draft, id, tenantId, ...made };
      };
      return store.change(tenantId, id, found, decide, cause);
    },

    async edit(tenantId, ruleId, edit, cause) {
      const before = await get(tenantId, ruleId);
      const checked = edit(before);
      const problems = [
        ...(sameScope(checked, before) ? [] : await scopeProblems(tenantId, checked)),
        ...(sameBudget(checked, before) ? [] : await budgetProblems(tenantId, checked)),
      ];
      // Only added channels are checked with the notifier, so a rule can be disabled while the notifier is unreachable.
      const asked = addedChannels(checked, before);
      const found = await channels.find(tenantId, asked);
      const decide = (facts: RuleFacts): Rule => {
        const { current } = facts;
        if (current === null) throw noSuchRule();
        const draft = edit(current);
        const added = addedChannels(draft, current);
        if (!sameScope(draft, checked) || !sameBudget(draft, checked) || !added.every((id) => asked.includes(id))) {
          throw new AppError('conflict', 'The rule was changed by another request. Try again.');
        }
        requireNone([...problems, ...channelProblems(draft, added, facts)]);
        requireRoom(draft, facts, current);
        const now = new Date(clock());
        const restarted = startsEmpty(current, draft) && { revision: current.revision + 1, effectiveAt: now };
        return { ...current, ...draft, updatedAt: now, ...restarted };
      };
      return store.change(tenantId, ruleId, found, decide, cause);
    },

    async delete(tenantId, ruleId, cause) {
      if (!(await store.delete(tenantId, ruleId, cause))) throw noSuchRule();
    },

    async evaluations(tenantId, ruleId) {
      await get(tenantId, ruleId);
      return evaluations.list(tenantId, ruleId);
    },
  };
}

function sameScope(a: RuleDraft, b: RuleDraft): boolean {
  return a.scopeType === b.scopeType && a.scopeId === b.scopeId;
}

function sameBudget(a: RuleDraft, b: RuleDraft): boolean {
  return thresholdsOf(a.condition).budgetId === thresholdsOf(b.condition).budgetId;
}

function addedChannels(draft: RuleDraft, before: RuleDraft): string[] {
  const known = new Set(namedChannels(before));
  return namedChannels(draft).filter((id) => !known.has(id));
}

function channelProblems({ channelIds, routes }: RuleDraft, added: string[], facts: RuleFacts): ErrorDetail[] {
  const unknown = added.filter((id) => !facts.channelIds.has(id));
  const lists = [
    { field: 'channel_config_ids', ids: channelIds },
    ...routes.map((route, index) => ({ field: `routes[${index}].channel_ids`, ids: route.channelIds })),
  ];
  return unknown.map((id) => {
    const { field, ids } = lists.find((list) => list.ids.includes(id))!;
    return { path: `${field}[${ids.indexOf(id)}]`, message: 'must be a channel of this workspace' };
  });
}

function requireNone(details: ErrorDetail[]): void {
  if (details.length === 0) return;
  const problems = details.map(({ path, message }) => `${path} ${message}`).join(', ');
  throw new AppError('invalid_request', `The rule is not valid for this workspace: ${problems}.`, {
    details,
  });
}

/** An edit that needs no more memory than before passes, even if the workspace is over its limit. */
function requireRoom(draft: RuleDraft, { others }: RuleFacts, before?: Rule): void {
  if (!draft.enabled) return;
  const rules = [...others, draft];
  const bytes = rules.reduce((sum, rule) => sum + costOf(rule), 0);
  const bytesBefore = before?.enabled === true ? costOf(before) : 0;
  if (bytes > MAX_WINDOW_BYTES && costOf(draft) > bytesBefore) {
    throw new AppError(
      'conflict',
      `The windows of the enabled rules could take ${bytes} bytes of memory; the maximum is ${MAX_WINDOW_BYTES}. ` +
        `This rule takes ${costOf(draft)}. ${wayToLowerCost(draft)}, or disable a rule that is not needed.`,
    );
  }
  const total = rules.reduce((sum, rule) => sum + mostChannels(rule), 0);
  if (total > MAX_NOTIFIED_CHANNELS) {
    throw new AppError(
      'conflict',
      `The enabled rules would name ${total} channels in total, counted per rule; the maximum is ` +
        `${MAX_NOTIFIED_CHANNELS}. Shorten channel_config_ids and routes, or disable a rule that is not needed.`,
    );
  }
}

function noSuchRule(): AppError {
  return new AppError('not_found', 'This workspace has no rule with that rule_id.');
}
