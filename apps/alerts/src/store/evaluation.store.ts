import type { TenantId } from '@tollkeeper/kernel';
import { type ClientSession, type Connection, Schema } from 'mongoose';
import { type Evaluation, type EvaluationStore, MAX_EVALUATIONS } from '../domain/evaluation.ts';

interface StoredEvaluations {
  /** Id of the rule. */
  _id: string;
  tenantId: string;
  /** Oldest first. */
  decisions: Evaluation[];
}

const evaluationsSchema = new Schema<StoredEvaluations>(
  {
    _id: { type: String, required: true },
    tenantId: { type: String, required: true },
    decisions: { type: Schema.Types.Mixed, required: true },
  },
  { collection: 'evaluations', versionKey: false },
);

/** Decisions of one rule, oldest first. */
export interface RuleEvaluations {
  tenantId: TenantId;
  ruleId: string;
  decisions: Evaluation[];
}

export interface MongoEvaluationStore extends EvaluationStore {
  /** Adds decisions, those of each rule oldest first, and lets go of those beyond its last {@link MAX_EVALUATIONS}. */
  append(session: ClientSession, ofRules: readonly RuleEvaluations[]): Promise<void>;
  delete(session: ClientSession, tenantId: TenantId, ruleId: string): Promise<void>;
}

/** Evaluations in the database of `connection`. Make it before the connection starts. */
export function createEvaluationStore(connection: Connection): MongoEvaluationStore {
  const evaluations = connection.model<StoredEvaluations>('Evaluation', evaluationsSchema);

  return {
    async list(tenantId, ruleId) {
      const stored = await evaluations.findOne({ _id: ruleId, tenantId }).lean();
      return stored?.decisions.toReversed() ?? [];
    },
    async append(session, ofRules) {
      const updates = ofRules.map(({ tenantId, ruleId, decisions }) => {
        const last = decisions.slice(-MAX_EVALUATIONS);
        const update = { $push: { decisions: { $each: last, $slice: -MAX_EVALUATIONS } } };
        return { updateOne: { filter: { _id: ruleId, tenantId }, update, upsert: true } };
      });
      await evaluations.bulkWrite(updates, { session });
    },
    async delete(session, tenantId, ruleId) {
      await evaluations.deleteOne({ _id: ruleId, tenantId }, { session });
    },
  };
}
