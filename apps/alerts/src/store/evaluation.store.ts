import type { TenantId } from '@tollkeeper/kernel';
import { driverCollection } from '@tollkeeper/mongo';
import { type ClientSession, type Connection, Schema } from 'mongoose';
import { type Evaluation, type EvaluationStore, MAX_EVALUATIONS } from '../domain/evaluation.ts';

interface StoredEvaluation extends Evaluation {
  /** Rule and place. The decision {@link MAX_EVALUATIONS} later takes the same place. */
  _id: string;
  tenantId: TenantId;
  ruleId: string;
}

const evaluationSchema = new Schema<StoredEvaluation>(
  {
    _id: { type: String, required: true },
    tenantId: { type: String, required: true },
    ruleId: { type: String, required: true },
  },
  { collection: 'decisions', versionKey: false },
);
evaluationSchema.index({ ruleId: 1 });

interface RuleEvaluations {
  tenantId: TenantId;
  ruleId: string;
  evaluations: readonly Evaluation[];
  /** Number of the rule's latest decision. */
  last: number;
}

export interface MongoEvaluationStore extends EvaluationStore {
  /** Stores decisions in their places. This removes all but the last {@link MAX_EVALUATIONS} of each rule. */
  record(session: ClientSession, ofRules: readonly RuleEvaluations[]): Promise<void>;
  delete(session: ClientSession, tenantId: TenantId, ruleId: string): Promise<void>;
}

/** Evaluations in the database of `connection`, one document each. Make it before the connection starts. */
export function createEvaluationStore(connection: Connection): MongoEvaluationStore {
  // Uses the driver directly: there are many evaluations, and none needs casts.
  const stored = driverCollection<StoredEvaluation>(connection, 'Evaluation', evaluationSchema);

  return {
    async list(tenantId, ruleId) {
      const found = await stored.find({ ruleId, tenantId }).toArray();
      return found.map(toEvaluation).toSorted((a, b) => b.number - a.number);
    },
    async record(session, ofRules) {
      const writes = ofRules.flatMap(({ tenantId, ruleId, evaluations, last }) =>
        evaluations
          .filter(({ number }) => number > last - MAX_EVALUATIONS)
          .map((evaluation) => {
            const filter = { _id: `${ruleId}/${evaluation.number % MAX_EVALUATIONS}` };
            return { replaceOne: { filter, replacement: { tenantId, ruleId, ...evaluation }, upsert: true } };
          }),
      );
      if (writes.length > 0) await stored.bulkWrite(writes, { session });
    },
    async delete(session, tenantId, ruleId) {
      await stored.deleteMany({ ruleId, tenantId }, { session });
    },
  };
}

function toEvaluation({ _id, tenantId: _tenantId, ruleId: _ruleId, ...evaluation }: StoredEvaluation): Evaluation {
  return evaluation;
}
