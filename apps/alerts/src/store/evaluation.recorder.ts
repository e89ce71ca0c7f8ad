import type { Clock } from '@tollkeeper/kernel';
import { type OffsetStore, type OffsetStep, withTransaction } from '@tollkeeper/mongo';
import type { TraceHeaders } from '@tollkeeper/runtime';
import type { ClientSession, Connection } from 'mongoose';
import { toAlert } from '../domain/alert.ts';
import type { Evaluation } from '../domain/evaluation.ts';
import type { Decision } from '../domain/evaluator.ts';
import type { SavedWindow } from '../domain/partition.evaluator.ts';
import type { MongoAlertStore } from './alert.store.ts';
import type { MongoChannelStore } from './channel.store.ts';
import type { MongoEvaluationStore } from './evaluation.store.ts';
import type { NewNotification, NotificationStore } from './notification.store.ts';
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
  rules: Pick<MongoRuleStore, 'recordFires'>;
  channels: Pick<MongoChannelStore, 'enabled'>;
  alerts: Pick<MongoAlertStore, 'insertNew'>;
  notifications: Pick<NotificationStore, 'queue'>;
  evaluations: Pick<MongoEvaluationStore, 'append'>;
  clock: Clock;
}

export function createEvaluationRecorder(deps: EvaluationRecorderDeps): EvaluationRecorder {
  const { connection, offsets, windows, rules, channels, alerts, notifications, evaluations, clock } = deps;

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
    const told: NewNotification[] = [];
    for (const [tenantId, ofTenant] of Map.groupBy(fresh, (alert) => alert.tenantId)) {
      const channelIds = [...new Set(ofTenant.flatMap((alert) => alert.channelIds))];
      const open = channelIds.length === 0 ? [] : await channels.enabled(session, tenantId, channelIds);
      for (const alert of ofTenant) {
        const ofAlert = open.filter(({ id }) => alert.channelIds.includes(id));
        told.push(
          ...ofAlert.map((channel) => ({ alert, type: 'alert.fired' as const, channel, trace: traces.get(alert.id) })),
        );
      }
    }
    await notifications.queue(session, told, now);
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
      return { position, windows: await withTransaction(connection, (session) => windows.load(session, partition)) };
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
