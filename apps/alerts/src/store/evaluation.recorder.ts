import type { Clock } from '@tollkeeper/kernel';
import { type OffsetStore, type OffsetStep, withTransaction } from '@tollkeeper/mongo';
import type { ClientSession, Connection } from 'mongoose';
import { toAlert } from '../domain/alert.ts';
import type { Evaluation } from '../domain/evaluation.ts';
import type { Decision } from '../domain/evaluator.ts';
import type { SavedWindow } from '../domain/partition.evaluator.ts';
import type { MongoAlertStore } from './alert.store.ts';
import type { MongoChannelStore } from './channel.store.ts';
import type { MongoEvaluationStore } from './evaluation.store.ts';
import type { NotificationStore } from './notification.store.ts';
import type { MongoRuleStore } from './rule.store.ts';
import type { WindowStore } from './window.store.ts';

/** What reading a stretch of the log has come to. */
export interface Progress {
  step: OffsetStep;
  windows: SavedWindow[];
  /** In the order in which they were made. */
  decisions: Decision[];
}

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
  rules: Pick<MongoRuleStore, 'recordFire'>;
  channels: Pick<MongoChannelStore, 'enabled'>;
  alerts: Pick<MongoAlertStore, 'insertNew'>;
  notifications: Pick<NotificationStore, 'queue'>;
  evaluations: Pick<MongoEvaluationStore, 'append'>;
  clock: Clock;
}

export function createEvaluationRecorder(deps: EvaluationRecorderDeps): EvaluationRecorder {
  const { connection, offsets, windows, rules, channels, alerts, notifications, evaluations, clock } = deps;

  async function recordFires(session: ClientSession, partition: number, decisions: Decision[], now: number) {
    const fired = decisions.filter(({ outcome }) => outcome === 'fired').map(toAlert);
    if (fired.length === 0) return;
    for (const alert of await alerts.insertNew(session, partition, fired)) {
      const told = await channels.enabled(session, alert.tenantId, alert.channelIds);
      await notifications.queue(session, alert, 'alert.fired', told, now);
      await rules.recordFire(session, alert.tenantId, alert.ruleId, alert.triggeredAt);
    }
  }

  async function recordDecisions(session: ClientSession, decisions: Decision[], now: number) {
    for (const ofRule of Map.groupBy(decisions, ({ rule }) => rule.id).values()) {
      const { id, tenantId } = ofRule[0]!.rule;
      await evaluations.append(
        session,
        tenantId,
        id,
        ofRule.map((decision) => toEvaluation(decision, now)),
      );
    }
  }

  return {
    async standing(topic, partition) {
      // The windows are read last: should they be newer than the position, recording what follows is refused.
      const position = await offsets.position(topic, partition);
      return { position, windows: await withTransaction(connection, (session) => windows.load(session, partition)) };
    },
    record: ({ step, windows: changed, decisions }) =>
      withTransaction(connection, async (session) => {
        const now = clock();
        await offsets.advance(session, step);
        await windows.save(session, step.partition, changed);
        await recordFires(session, step.partition, decisions, now);
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
