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
  /** In the order in which they were made. */
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
  /** Stores position, windows, alerts, their notifications and the decisions. Rejects with `OffsetConflict` when another owner came first. */
  record(progress: Progress): Promise<void>;
}

export interface EvaluationRecorderDeps {
  connection: Connection;
  offsets: OffsetStore;
  windows: WindowStore;
  rules: Pick<MongoRuleStore, 'forgetMissing' | 'recordFires'>;
  alerts: Pick<MongoAlertStore, 'insertNew'>;
  notifier: AlertNotifier;
  evaluations: Pick<MongoEvaluationStore, 'append'>;
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
    await rules.recordFires(session, fresh);
    const traceOf = ({ id }: Alert): TraceHeaders | undefined => traces.get(id);
    await notifier.tell(session, { type: 'alert.fired', alerts: fresh, at: now, traceOf });
  }

  async function recordDecisions(session: ClientSession, decisions: Decision[], now: number) {
    if (decisions.length === 0) return;
    const byRule = [...Map.groupBy(decisions, ({ rule }) => rule.id).values()];
    const ofRules = byRule.map((ofRule) => {
      const { id: ruleId, tenantId } = ofRule[0]!.rule;
      return { ruleId, tenantId, decisions: ofRule.map((decision) => toEvaluation(decision, now)) };
    });
    await evaluations.append(session, ofRules);
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
    record: (progress) =>
      withTransaction(connection, async (session) => {
        const { step, windows: changed, decisions } = progress;
        const now = clock();
        await offsets.advance(session, step);
        await windows.save(session, step.partition, changed);
        await recordFires(session, progress, now);
        await recordDecisions(session, decisions, now);
      }),
  };
}

function toEvaluation(decision: Decision, evaluatedAt: number): Evaluation {
  const { outcome, reason, rule, event, evidence, cooldownUntil } = decision;
  return {
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
