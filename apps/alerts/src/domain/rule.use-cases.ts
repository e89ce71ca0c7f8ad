import { AppError, type Clock, newId, type TenantId } from '@tollkeeper/kernel';
import type { Evaluation, EvaluationStore } from './evaluation.ts';
import { MAX_RULES, type Rule, type RuleDraft, type RuleFacts, type RuleStore, startsEmpty } from './rule.ts';

/** What can be done with rules (spec §4.3, decisions §6). Every method rejects with `not_found` for a rule of another workspace. */
export interface RuleUseCases {
  list(tenantId: TenantId): Promise<Rule[]>;
  get(tenantId: TenantId, ruleId: string): Promise<Rule>;
  /** Rejects with `invalid_request` for a scope or a channel that is not the workspace's, `conflict` with {@link MAX_RULES} rules. */
  create(tenantId: TenantId, draft: RuleDraft): Promise<Rule>;
  /** `edit` makes the new rule of the present one and may be run again on a newer one. Rejects as `create` does. */
  edit(tenantId: TenantId, ruleId: string, edit: (current: RuleDraft) => RuleDraft): Promise<Rule>;
  /** Its alerts stay in history. */
  delete(tenantId: TenantId, ruleId: string): Promise<void>;
  /** The last decisions of the rule, newest first. */
  evaluations(tenantId: TenantId, ruleId: string): Promise<Evaluation[]>;
}

/** What the alerts service asks about agents. */
export interface AgentDirectory {
  has(tenantId: TenantId, agentId: string): Promise<boolean>;
}

export interface RuleUseCaseDeps {
  store: RuleStore;
  evaluations: EvaluationStore;
  agents: AgentDirectory;
  clock: Clock;
}

export function createRuleUseCases({ store, evaluations, agents, clock }: RuleUseCaseDeps): RuleUseCases {
  async function get(tenantId: TenantId, ruleId: string): Promise<Rule> {
    const rule = await store.find(tenantId, ruleId);
    if (rule === null) throw noSuchRule();
    return rule;
  }

  async function requireScope(tenantId: TenantId, { scopeType, scopeId }: RuleDraft): Promise<void> {
    if (scopeType !== 'agent') {
      if (scopeId !== tenantId) throw invalid('scope_id', `must be ${tenantId}, the id of this workspace`);
    } else if (!(await agents.has(tenantId, scopeId))) {
      throw invalid('scope_id', 'must be an agent of this workspace');
    }
  }

  return {
    list: (tenantId) => store.list(tenantId),
    get,

    async create(tenantId, draft) {
      await requireScope(tenantId, draft);
      const id = newId('rule');
      return store.change(tenantId, id, (facts) => {
        if (facts.ruleCount >= MAX_RULES) {
          throw new AppError('conflict', `The workspace has ${MAX_RULES} rules. Delete one that is not needed.`);
        }
        requireChannels(draft, facts);
        const now = new Date(clock());
        const made = { createdAt: now, updatedAt: now, lastFiredAt: null, revision: 1, effectiveAt: now };
        return { ...draft, id, tenantId, ...made };
      });
    },

    async edit(tenantId, ruleId, edit) {
      const before = await get(tenantId, ruleId);
      const checked = edit(before);
      if (!sameScope(checked, before)) await requireScope(tenantId, checked);
      return store.change(tenantId, ruleId, (facts) => {
        const { current } = facts;
        if (current === null) throw noSuchRule();
        const draft = edit(current);
        if (!sameScope(draft, checked)) throw new AppError('conflict', 'The rule was changed meanwhile. Try again.');
        requireChannels(draft, facts);
        const now = new Date(clock());
        const restarted = startsEmpty(current, draft) && { revision: current.revision + 1, effectiveAt: now };
        return { ...current, ...draft, updatedAt: now, ...restarted };
      });
    },

    async delete(tenantId, ruleId) {
      if (!(await store.delete(tenantId, ruleId))) throw noSuchRule();
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

function requireChannels({ channelIds }: RuleDraft, facts: RuleFacts): void {
  const details = channelIds.flatMap((id, index) =>
    facts.channelIds.has(id)
      ? []
      : [{ path: `channel_config_ids[${index}]`, message: 'must be a channel of this workspace' }],
  );
  if (details.length === 0) return;
  throw new AppError('invalid_request', 'The rule names channels that this workspace does not have.', { details });
}

function invalid(path: string, message: string): AppError {
  return new AppError('invalid_request', `The request is not valid: ${path} ${message}.`, {
    details: [{ path, message }],
  });
}

function noSuchRule(): AppError {
  return new AppError('not_found', 'There is no such rule in this workspace.');
}
