import type { Clock } from '@tollkeeper/kernel';
import { type OffsetStore, type OffsetStep, withTransaction } from '@tollkeeper/mongo';
import type { TraceHeaders } from '@tollkeeper/runtime';
import type { ClientSession, Connection } from 'mongoose';
import { type Alert, toAlert } from '../domain/alert.ts';
import type { Evaluation } from '../domain/evaluation.ts';
import type { Decision } from '../domain/evaluator.ts';
import type { SavedWindow } from '../domain/partition.evaluator.ts';
import type { AlertNotifier } from './alert.notifier.ts';
import type { MongoAlertStore } from './alert.store.ts';
import type { MongoEvaluationStore } from './evaluation.store.ts';
import type { MongoRuleStore } from './rule.store.ts';
import type { WindowStore } from './window.store.ts';

/** What reading a stretch of the log has come to. */
export interface Progress {
  step: OffsetStep;
  windows: SavedWindow[];
  /** In the order in which they were made; of each place of a rule the last one. */
  decisions: Decision[];
  traces: AlertTraces;
}

/** The traces that fired alerts belong to, by the alerts' ids; empty while nothing is traced. */
export type AlertTraces = ReadonlyMap<string, TraceHeaders>;

/** Where a partition stands: a position of the log and the windows that everything before it has filled. */
export interface Standing {
  /** Null: nothing was read. */
  position: number | null;
  windows: SavedWindow[];
}

/** The results of the evaluation, whole or not at all. */
export interface EvaluationRecorder {
  standing(topic: string, partition: number): Promise<Standing>;
  /**
   * Stores position, windows, alerts, their notifications and the decisions. Rejects with `OffsetConflict` when another owner came first,
   * and with an error that `isRefusal` knows when it may be too much at once.
   */
  record(progress: Progress): Promise<void>;
}

/** Others of the partition wait meanwhile. */
const RETRY_FOR_MS = 15_000;
const EVALUATION_BYTES = 500;
/** Without the ids of events and the types, and with what its indexes take. */
const ALERT_BYTES = 1500;
const DELIVERY_BYTES = 1000;

export interface EvaluationRecorderDeps {
  connection: Connection;
  offsets: OffsetStore;
  windows: WindowStore;
  rules: Pick<MongoRuleStore, 'forgetMissing'>;
  alerts: Pick<MongoAlertStore, 'insertNew'>;
  notifier: AlertNotifier;
  evaluations: Pick<MongoEvaluationStore, 'record'>;
  clock: Clock;
}

export function createEvaluationRecorder(deps: EvaluationRecorderDeps): EvaluationRecorder {
  const { connection, offsets, windows, rules, alerts, notifier, evaluations, clock } = deps;

  async function recordFires(
    session: ClientSession,
    { step: { partition }, decisions, traces }: Progress,
    now: number,
  ) {
    const fired = decisions.filter(({ outcome }) => outcome === 'fired').map(toAlert);
    if (fired.length === 0) return;
    const fresh = await alerts.insertNew(session, partition, fired);
    if (fresh.length === 0) return;
    const traceOf = ({ id }: Alert): TraceHeaders | undefined => traces.get(id);
    await notifier.tell(session, { type: 'alert.fired', alerts: fresh, at: now, traceOf });
  }

  /** A rule without a window was deleted meanwhile: nobody would find its evaluations any more. */
  async function recordDecisions(session: ClientSession, { decisions, windows: changed }: Progress, now: number) {
    const byRule = Map.groupBy(decisions, ({ rule }) => rule.id);
    const ofRules = changed.map(({ tenantId, ruleId, history }) => {
      const made = (byRule.get(ruleId) ?? []).map((decision) => toEvaluation(decision, now));
      return { tenantId, ruleId, evaluations: made, last: history.decisions };
    });
    await evaluations.record(session, ofRules);
  }

  return {
    async standing(topic, partition) {
      // The windows are read last: should they be newer than the position, recording what follows is refused.
      const position = await offsets.position(topic, partition);
      return withTransaction(connection, async (session) => {
        const saved = await windows.load(session, partition);
        const missing = new Set(await rules.forgetMissing(session, saved));
        return { position, windows: saved.filter(({ ruleId }) => !missing.has(ruleId)) };
      });
    },
    record(progress) {
      const work = async (session: ClientSession): Promise<void> => {
        const { step, windows: changed } = progress;
        const now = clock();
        await offsets.advance(session, step);
        await windows.save(session, step.partition, changed);
        await recordFires(session, progress, now);
        await recordDecisions(session, progress, now);
      };
      return withTransaction(connection, work, { retryForMs: RETRY_FOR_MS });
    },
  };
}

/** What storing a decision takes, about: how many documents, and how many bytes. */
export function sizeOfDecision({ outcome, rule, evidence }: Decision): { documents: number; bytes: number } {
  if (outcome === 'suppressed') return { documents: 1, bytes: EVALUATION_BYTES };
  const samples = evidence.sampleEventIds.reduce((sum, id) => sum + id.length, 0);
  const types = rule.eventTypes.reduce((sum, type) => sum + type.length, 0);
  const alert = ALERT_BYTES + samples + types;
  // For each channel its delivery, and what goes to the log: the alert once more.
  const told = rule.channelIds.length;
  return { documents: 2 + 2 * told, bytes: EVALUATION_BYTES + alert + told * (DELIVERY_BYTES + alert) };
}

function toEvaluation(decision: Decision, evaluatedAt: number): Evaluation {
  const { number, count, outcome, reason, rule, event, evidence, cooldownUntil } = decision;
  return {
    number,
    count,
    outcome,
    reason,
    alertId: outcome === 'fired' ? toAlert(decision).id : null,
    eventId: event.id,
    eventTime: event.time,
    windowStart: evidence.windowStart,
    windowEnd: evidence.windowEnd,
    eventCount: evidence.eventCount,
    threshold: rule.threshold,
    cooldownUntil,
    evaluatedAt,
  };
}
