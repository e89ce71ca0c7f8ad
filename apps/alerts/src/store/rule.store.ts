import type { AuditTrail } from '@tollkeeper/audit-trail';
import {
  changesOf,
  isWithoutLabels,
  type Labels,
  RULE_KINDS,
  SCOPE_TYPES,
  type ScopeType,
  SEVERITIES,
} from '@tollkeeper/contracts';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { changeInTurn } from '@tollkeeper/mongo';
import { type ClientSession, type Connection, type Model, Schema, trusted } from 'mongoose';
import { AUDITED_RULE, type Route, type Rule, type RuleInForce, type RuleStore } from '../domain/rule.ts';
import type { ChannelCopies } from './channel.copies.ts';
import type { RuleChanges } from './rule.changes.ts';

/** Without the last fire, which is part of the window: the evaluation never writes a document that people edit. */
interface StoredRule extends Omit<
  Rule,
  'id' | 'tenantId' | 'lastFiredAt' | 'scopeType' | 'labels' | 'routes' | 'groupSeconds'
> {
  _id: string;
  tenantId: string;
  scopeType: StoredScope;
  /** Absent without a filter of labels. */
  labels?: Labels;
  /** Absent without routes. */
  routes?: Route[];
  /** Absent in rules of release 0.1.0. */
  groupSeconds?: number;
}

/**
 * A rule with a filter of labels has a scope that release 0.1.0 does not know. So replicas of that release leave it
 * alone, instead of counting all events by it: see docs/adr/0030.
 */
type StoredScope = ScopeType | `${ScopeType}${typeof WITH_LABELS}`;

const WITH_LABELS = '_with_labels';
const withLabels = (scope: ScopeType): StoredScope => `${scope}${WITH_LABELS}`;
const STORED_SCOPES: readonly StoredScope[] = [...SCOPE_TYPES, ...SCOPE_TYPES.map(withLabels)];

const text = { type: String, required: true } as const;
const number = { type: Number, required: true } as const;
const date = { type: Date, required: true } as const;

const ruleSchema = new Schema<StoredRule>(
  {
    _id: text,
    tenantId: text,
    name: text,
    description: { type: String, default: '' },
    enabled: { type: Boolean, required: true },
    severity: { ...text, enum: SEVERITIES },
    scopeType: { ...text, enum: STORED_SCOPES },
    scopeId: text,
    condition: { type: Schema.Types.Mixed, required: true },
    windowSeconds: number,
    eventTypes: { type: [String], required: true },
    percents: { type: [Number], required: true },
    labels: Schema.Types.Mixed,
    cooldownSeconds: number,
    channelIds: { type: [String], required: true },
    routes: { type: [{ _id: false, label: text, value: text, channelIds: [String] }], default: undefined },
    groupSeconds: Number,
    createdAt: date,
    updatedAt: date,
    revision: number,
    effectiveAt: date,
  },
  { collection: 'rules', versionKey: false },
);
ruleSchema.index({ tenantId: 1, createdAt: 1 });

/** Rules in the database of `connection`, with the operations of other stores. Make it before the connection starts. */
export interface MongoRuleStore extends RuleStore {
  countEnabled(tenantId: TenantId): Promise<number>;
  /** Removes a deleted channel from all rules. */
  removeChannel(session: ClientSession, tenantId: TenantId, channelId: string): Promise<void>;
  /**
   * Deletes the data of those rules that are deleted, and returns their ids: evaluation results can be stored right
   * after the deletion of their rule.
   */
  forgetMissing(session: ClientSession, rules: readonly RuleReference[]): Promise<string[]>;
}

export interface RuleReference {
  tenantId: TenantId;
  ruleId: string;
}

export interface RuleStoreDeps {
  connection: Connection;
  trail: AuditTrail;
  changes: RuleChanges;
  channels: Pick<ChannelCopies, 'remember' | 'forget'>;
  /** Event times at which the rules last fired, by rule id. */
  lastFires: (ruleIds: readonly string[], session?: ClientSession) => Promise<Map<string, Date>>;
  /** Deletes the data that is useless without the rule. */
  forget: (session: ClientSession, tenantId: TenantId, ruleId: string) => Promise<void>;
}

export function createRuleStore(deps: RuleStoreDeps): MongoRuleStore {
  const { connection, trail, changes, channels, lastFires, forget } = deps;
  const rules: Model<StoredRule> = connection.model<StoredRule>('Rule', ruleSchema);

  async function enabledBeside(session: ClientSession, tenantId: TenantId, exceptId: string): Promise<RuleInForce[]> {
    const filter = { tenantId, enabled: true, ...OF_KNOWN_KINDS, _id: trusted({ $ne: exceptId }) };
    const fields = { _id: 0, condition: 1, windowSeconds: 1, channelIds: 1, routes: 1 } as const;
    const found = await rules.find(filter, fields, { session }).lean();
    return found.map(({ routes = [], ...rule }) => ({ ...rule, routes }));
  }

  async function withLastFires(stored: readonly StoredRule[], session?: ClientSession): Promise<Rule[]> {
    const fires = await lastFires(
      stored.map(({ _id }) => _id),
      session,
    );
    return stored.map((each) => ({ ...toRule(each), lastFiredAt: fires.get(each._id) ?? null }));
  }

  /** Null if there is no such rule. */
  async function find(tenantId: TenantId, ruleId: string, session?: ClientSession): Promise<Rule | null> {
    const stored = await rules.find({ _id: ruleId, tenantId, ...OF_KNOWN_KINDS }, null, session && { session }).lean();
    const [rule] = await withLastFires(stored, session);
    return rule ?? null;
  }

  return {
    list: async (tenantId) => {
      // Majority: the evaluation must not use a change that a fail-over may roll back.
      const ofTenant = rules.find({ tenantId, ...OF_KNOWN_KINDS }).readConcern('majority');
      return withLastFires(await ofTenant.sort({ createdAt: 1, _id: 1 }).lean());
    },

    find: (tenantId, ruleId) => find(tenantId, ruleId),

    change: (tenantId, ruleId, found, decide, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        await changes.record(session, tenantId);
        const current = await find(tenantId, ruleId, session);
        const rule = decide({
          current,
          ruleCount: await rules.countDocuments({ tenantId }, { session }),
          others: await enabledBeside(session, tenantId, ruleId),
          channelIds: new Set(await channels.remember(session, tenantId, found)),
        });
        await rules.replaceOne({ _id: rule.id, tenantId }, toStored(rule), { session, upsert: true });
        const target = { type: 'rule', id: ruleId, name: rule.name };
        const changed = { target, fields: AUDITED_RULE, before: current, after: rule };
        await trail.recordChange(session, tenantId, cause, changed);
        return rule;
      }),

    delete: (tenantId, ruleId, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        await changes.record(session, tenantId);
        const deleted = await rules.findOneAndDelete({ _id: ruleId, tenantId }, { session }).lean();
        if (deleted === null) return false;
        await forget(session, tenantId, ruleId);
        // A rule of an unknown kind or scope, from a newer release, cannot be read.
        const isKnown = RULE_KINDS.includes(deleted.condition.kind) && STORED_SCOPES.includes(deleted.scopeType);
        const before = isKnown ? toRule(deleted) : null;
        const target = { type: 'rule', id: ruleId, name: deleted.name };
        await trail.record(session, tenantId, cause, { target, changes: changesOf(AUDITED_RULE, before, null) });
        return true;
      }),

    countEnabled: (tenantId) => rules.countDocuments({ tenantId, enabled: true }),

    async removeChannel(session, tenantId, channelId) {
      await changes.record(session, tenantId);
      await channels.forget(session, tenantId, channelId);
      await rules.updateMany({ tenantId, channelIds: channelId }, { $pull: { channelIds: channelId } }, { session });
      // The alerts of a route without channels go where they would without it.
      const routed = { tenantId, 'routes.channelIds': channelId };
      const changed = await rules.find(routed, { _id: 1 }, { session }).lean();
      await rules.updateMany(routed, { $pull: { 'routes.$[].channelIds': channelId } }, { session });
      const ofChanged = { _id: trusted({ $in: changed.map(({ _id }) => _id) }) };
      await rules.updateMany(ofChanged, { $pull: { routes: { channelIds: trusted({ $size: 0 }) } } }, { session });
    },

    async forgetMissing(session, references) {
      const ids = references.map(({ ruleId }) => ruleId);
      const known = await rules.find({ _id: trusted({ $in: ids }) }, { _id: 1 }, { session }).lean();
      const knownIds = new Set(known.map(({ _id }) => _id));
      const missing = references.filter(({ ruleId }) => !knownIds.has(ruleId));
      for (const { tenantId, ruleId } of missing) await forget(session, tenantId, ruleId);
      return missing.map(({ ruleId }) => ruleId);
    },
  };
}

/** Rules with kinds or scopes of a newer release are inactive until that release is back. */
const OF_KNOWN_KINDS = {
  'condition.kind': trusted({ $in: [...RULE_KINDS] }),
  scopeType: trusted({ $in: [...STORED_SCOPES] }),
};

function toRule(stored: StoredRule): Rule {
  const { _id, tenantId, scopeType: scope, labels = {}, routes = [], groupSeconds = 0, ...fields } = stored;
  const scopeType = SCOPE_TYPES.find((each) => scope === each || scope === withLabels(each))!;
  const optional = { labels, routes, groupSeconds };
  return { ...fields, ...optional, id: _id, tenantId: provenTenantId(tenantId), scopeType, lastFiredAt: null };
}

function toStored({ id: _id, lastFiredAt: _lastFiredAt, labels, routes, ...rest }: Rule): Omit<StoredRule, '_id'> {
  const fields = { ...rest, ...(routes.length > 0 && { routes }) };
  return isWithoutLabels(labels) ? fields : { ...fields, scopeType: withLabels(fields.scopeType), labels };
}
