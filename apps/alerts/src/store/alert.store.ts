import type { AuditTrail } from '@tollkeeper/audit-trail';
import {
  ALERT_STATUSES,
  type AlertStatus,
  type Cause,
  isWithoutLabels,
  type Labels,
  SCOPE_TYPES,
  SEVERITIES,
} from '@tollkeeper/contracts';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { changeInTurn, withTransaction } from '@tollkeeper/mongo';
import { activeTrace, type TraceHeaders } from '@tollkeeper/runtime';
import { type ClientSession, type Connection, type Model, Schema, trusted } from 'mongoose';
import { type Alert, type AlertQuery, type AlertStore, AUDITED_ALERT } from '../domain/alert.ts';
import type { RuleCondition } from '../domain/rule-kinds.ts';
import type { AlertFanOut } from './alert.fan-out.ts';
import type { NotificationStore } from './notification.store.ts';

interface StoredAlert extends Omit<Alert, 'id' | 'tenantId' | 'labels' | 'resolvedAt'> {
  _id: string;
  tenantId: string;
  /** Absent if the rule had no filter of labels. */
  labels?: Labels;
  /** The condition, if release 0.1.0 does not know its kind: see {@link toStoredCondition}. */
  newerCondition?: RuleCondition;
  resolvedAt: Date | null;
  /** Log partition with the events of the alert's rule. */
  partition: number;
}

const text = { type: String, required: true } as const;
const number = { type: Number, required: true } as const;
const texts = { type: [String], required: true } as const;

const OPEN: AlertStatus[] = ['firing', 'acknowledged'];
const open = () => ({ status: trusted({ $in: OPEN }) });

function alertSchema(retentionSeconds: number): Schema<StoredAlert> {
  const schema = new Schema<StoredAlert>(
    {
      _id: text,
      tenantId: text,
      partition: number,
      ruleId: text,
      ruleRevision: number,
      ruleName: text,
      condition: { type: Schema.Types.Mixed, required: true },
      newerCondition: Schema.Types.Mixed,
      severity: { ...text, enum: SEVERITIES },
      scopeType: { ...text, enum: SCOPE_TYPES },
      scopeId: text,
      eventTypes: texts,
      labels: Schema.Types.Mixed,
      settledMicros: { type: Number, default: null },
      budget: { type: Schema.Types.Mixed, default: null },
      raise: Schema.Types.Mixed,
      deviation: Schema.Types.Mixed,
      burn: Schema.Types.Mixed,
      forecast: Schema.Types.Mixed,
      channelIds: texts,
      groupSeconds: Number,
      windowStart: number,
      windowEnd: number,
      eventCount: number,
      sampleEventIds: texts,
      firstEventAt: number,
      lastEventAt: number,
      triggeredAt: number,
      status: { ...text, enum: ALERT_STATUSES },
      acknowledgedAt: { type: Number, default: null },
      acknowledgedBy: { type: String, default: null },
      resolvedAt: { type: Date, default: null },
      metUntil: number,
    },
    { collection: 'alerts', versionKey: false },
  );
  // Alert history: one index per filter, newest first.
  schema.index({ tenantId: 1, triggeredAt: -1, _id: -1 });
  for (const filter of ['ruleId', 'severity', 'status']) {
    schema.index({ tenantId: 1, [filter]: 1, triggeredAt: -1, _id: -1 });
  }
  // Alerts that may lapse, of all partitions.
  schema.index({ metUntil: 1, partition: 1 }, { partialFilterExpression: { status: { $in: OPEN } } });
  schema.index({ resolvedAt: 1 }, { expireAfterSeconds: retentionSeconds });
  return schema;
}

/**
 * Alerts in the database of `connection`, with the operations of the evaluation. Make it before the connection starts.
 */
export interface MongoAlertStore extends AlertStore {
  /** The alerts with these ids, by id. */
  findAll(session: ClientSession, alertIds: readonly string[]): Promise<Map<string, Alert>>;
  /** Adds the alerts that are not stored yet, and returns them. */
  insertNew(session: ClientSession, partition: number, alerts: readonly Alert[]): Promise<Alert[]>;
  /** At most `limit` unresolved alerts of the partition whose condition is not known to be met at `now`. */
  lapsed(partition: number, now: number, limit: number): Promise<Alert[]>;
  /** Partitions with such alerts. */
  lapsedPartitions(now: number): Promise<number[]>;
  /** Resolves the alerts that are not resolved yet, queues their notifications, and returns these alerts. */
  resolveLapsed(lapsed: readonly Alert[], at: number): Promise<Alert[]>;
  /** Records that the conditions of alerts stay met for longer. */
  extend(lasting: readonly LastingAlert[]): Promise<void>;
}

/** An alert whose condition is met until `metUntil`, epoch milliseconds. */
interface LastingAlert {
  alert: Alert;
  metUntil: number;
}

export interface AlertStoreDeps {
  connection: Connection;
  /** How long alerts are kept after their resolution. */
  retentionSeconds: number;
  trail: AuditTrail;
  fanOut: AlertFanOut;
  notifications: Pick<NotificationStore, 'deliveries' | 'countUndelivered'>;
}

export function createAlertStore(deps: AlertStoreDeps): MongoAlertStore {
  const { connection, retentionSeconds, trail, fanOut, notifications } = deps;
  const alerts = connection.model<StoredAlert>('Alert', alertSchema(retentionSeconds));

  async function record(
    session: ClientSession,
    cause: Cause,
    before: Pick<Alert, 'status'>,
    after: Alert,
  ): Promise<void> {
    const target = { type: 'alert', id: after.id, name: after.ruleName };
    await trail.recordChange(session, after.tenantId, cause, { target, fields: AUDITED_ALERT, before, after });
  }

  /**
   * Resolves the alerts that are not resolved yet, and queues notifications for their channels. `by` is set if a person
   * resolves them.
   */
  const resolveAll = (
    which: object,
    resolvedAt: number,
    by?: { tenantId: TenantId; cause: Cause; trace: TraceHeaders | undefined },
  ): Promise<Alert[]> => {
    const resolve = async (session: ClientSession) => {
      const filter = { ...which, ...open() };
      const found = await alerts.find(filter, null, { session }).lean();
      if (found.length === 0) return [];
      const resolution = { status: 'resolved' as const, resolvedAt: new Date(resolvedAt) };
      await alerts.updateMany(filter, { $set: resolution }, { session });
      const resolved = found.map((stored) => toAlert({ ...stored, ...resolution }));
      await fanOut.notify(session, {
        type: 'alert.resolved',
        alerts: resolved,
        at: resolvedAt,
        traceOf: () => by?.trace,
      });
      for (const [index, alert] of resolved.entries()) {
        if (by !== undefined) await record(session, by.cause, found[index]!, alert);
      }
      return resolved;
    };
    return by === undefined ? withTransaction(connection, resolve) : changeInTurn(connection, by.tenantId, resolve);
  };

  return {
    async list(tenantId, query) {
      const filter = { tenantId, ...toFilter(query) };
      const page = alerts.find(filter).sort({ triggeredAt: -1, _id: -1 }).skip(query.offset).limit(query.limit).lean();
      const [found, total] = await Promise.all([page, alerts.countDocuments(filter)]);
      return { alerts: found.map(toAlert), total };
    },

    async find(tenantId, alertId) {
      const stored = await alerts.findOne({ _id: alertId, tenantId }).lean();
      return stored === null ? null : toAlert(stored);
    },

    acknowledge(tenantId, alertId, cause, acknowledgedAt) {
      const trace = activeTrace();
      return changeInTurn(connection, tenantId, async (session) => {
        const filter = { _id: alertId, tenantId, status: 'firing' } as const;
        const change = { status: 'acknowledged' as const, acknowledgedAt, acknowledgedBy: cause.actor.id };
        const before = await alerts.findOneAndUpdate(filter, { $set: change }, { session }).lean();
        if (before === null) return null;
        const after = toAlert({ ...before, ...change });
        await fanOut.notify(session, {
          type: 'alert.acknowledged',
          alerts: [after],
          at: acknowledgedAt,
          traceOf: () => trace,
        });
        await record(session, cause, before, after);
        return after;
      });
    },

    async resolve(tenantId, alertId, cause, resolvedAt) {
      const by = { tenantId, cause, trace: activeTrace() };
      const [resolved] = await resolveAll({ _id: alertId, tenantId }, resolvedAt, by);
      return resolved ?? null;
    },

    deliveries: notifications.deliveries,
    countUndelivered: notifications.countUndelivered,
    ...evaluatedAlerts(alerts, resolveAll),
  };
}

/** The operations of the evaluation on alerts. */
function evaluatedAlerts(
  alerts: Model<StoredAlert>,
  resolveAll: (which: object, resolvedAt: number) => Promise<Alert[]>,
): Omit<MongoAlertStore, keyof AlertStore> {
  return {
    async findAll(session, alertIds) {
      const found = await alerts.find({ _id: trusted({ $in: [...alertIds] }) }, null, { session }).lean();
      return new Map(found.map((stored) => [stored._id, toAlert(stored)]));
    },

    async insertNew(session, partition, fired) {
      const ids = fired.map(({ id }) => id);
      const known = await alerts.find({ _id: trusted({ $in: ids }) }, { _id: 1 }, { session }).lean();
      const knownIds = new Set(known.map(({ _id }) => _id));
      const fresh = fired.filter(({ id }) => !knownIds.has(id));
      const stored = fresh.map(({ id, labels, ...fields }) => ({
        ...{ ...fields, ...toStoredCondition(fields), _id: id, partition, resolvedAt: null },
        ...(!isWithoutLabels(labels) && { labels }),
      }));
      // Lean: what the evaluator made needs no casts, and casting costs more than storing.
      await alerts.insertMany(stored, { session, lean: true });
      return fresh;
    },

    async lapsed(partition, now, limit) {
      const filter = { partition, metUntil: trusted({ $lte: now }), ...open() };
      return (await alerts.find(filter).sort({ metUntil: 1 }).limit(limit).lean()).map(toAlert);
    },

    lapsedPartitions: (now) => alerts.distinct('partition', { metUntil: trusted({ $lte: now }), ...open() }),

    resolveLapsed: (lapsed, resolvedAt) =>
      resolveAll({ _id: trusted({ $in: lapsed.map(({ id }) => id) }) }, resolvedAt),

    async extend(lasting) {
      const updates = lasting.map(({ alert: { id, tenantId }, metUntil }) => ({
        updateOne: { filter: { _id: id, tenantId }, update: { $max: { metUntil } } },
      }));
      await alerts.bulkWrite(updates);
    },
  };
}

function toFilter({ ruleId, severity, status, triggeredFrom, triggeredTo }: AlertQuery): object {
  const from = triggeredFrom !== undefined && { $gte: triggeredFrom };
  const to = triggeredTo !== undefined && { $lt: triggeredTo };
  return {
    ...(ruleId !== undefined && { ruleId }),
    ...(severity !== undefined && { severity }),
    ...(status !== undefined && { status }),
    ...((from || to) && { triggeredAt: trusted({ ...from, ...to }) }),
  };
}

/**
 * Release 0.1.0 fails to list or resolve alerts of kinds that it does not know, and then resolves none of any
 * workspace. So it finds such an alert as one of `spend_gte`.
 */
function toStoredCondition(
  alert: Pick<Alert, 'condition' | 'settledMicros'>,
): Pick<StoredAlert, 'condition' | 'newerCondition'> {
  const { condition, settledMicros } = alert;
  switch (condition.kind) {
    case 'event_count_gte':
    case 'first_occurrence':
    case 'spend_gte':
      return { condition };
    case 'deviation_gte':
    case 'burn_rate_gte':
    case 'forecast_gte': {
      const readable: RuleCondition = { kind: 'spend_gte', thresholdMicros: settledMicros ?? 0 };
      return { condition: readable, newerCondition: condition };
    }
  }
}

function toAlert({ _id, tenantId, partition: _partition, labels = {}, ...stored }: StoredAlert): Alert {
  const { resolvedAt, newerCondition, ...fields } = stored;
  return {
    ...{ ...fields, id: _id, tenantId: provenTenantId(tenantId), labels },
    ...{ condition: newerCondition ?? fields.condition, resolvedAt: resolvedAt?.getTime() ?? null },
  };
}
