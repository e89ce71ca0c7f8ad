import { ALERT_STATUSES, type AlertStatus, RULE_KINDS, SCOPE_TYPES, SEVERITIES } from '@tollkeeper/contracts';
import { provenTenantId } from '@tollkeeper/kernel';
import { withTransaction } from '@tollkeeper/mongo';
import { activeTrace } from '@tollkeeper/runtime';
import { type ClientSession, type Connection, Schema, trusted } from 'mongoose';
import type { Alert, AlertQuery, AlertStore } from '../domain/alert.ts';
import type { MongoChannelStore } from './channel.store.ts';
import type { NotificationStore } from './notification.store.ts';

interface StoredAlert extends Omit<Alert, 'id' | 'tenantId'> {
  _id: string;
  tenantId: string;
  /** Partition of the log that the alert's rule is evaluated with. */
  partition: number;
}

const text = { type: String, required: true } as const;
const number = { type: Number, required: true } as const;
const texts = { type: [String], required: true } as const;

const alertSchema = new Schema<StoredAlert>(
  {
    _id: text,
    tenantId: text,
    partition: number,
    ruleId: text,
    ruleRevision: number,
    ruleName: text,
    ruleKind: { ...text, enum: RULE_KINDS },
    severity: { ...text, enum: SEVERITIES },
    scopeType: { ...text, enum: SCOPE_TYPES },
    scopeId: text,
    eventTypes: texts,
    threshold: number,
    channelIds: texts,
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
    resolvedAt: { type: Number, default: null },
    metUntil: number,
  },
  { collection: 'alerts', versionKey: false },
);
const OPEN: AlertStatus[] = ['firing', 'acknowledged'];
alertSchema.index({ tenantId: 1, triggeredAt: -1, _id: -1 });
alertSchema.index({ tenantId: 1, ruleId: 1, triggeredAt: -1 });
alertSchema.index({ partition: 1, metUntil: 1 }, { partialFilterExpression: { status: { $in: OPEN } } });

/** Alerts in the database of `connection`, with what the evaluation does to them. Make it before the connection starts. */
export interface MongoAlertStore extends AlertStore {
  /** Adds those of the alerts that are not known, and answers them. */
  insertNew(session: ClientSession, partition: number, alerts: readonly Alert[]): Promise<Alert[]>;
  /** Alerts of the partition that are not resolved and whose condition is not known to be met at `now`, at most `limit`. */
  lapsed(partition: number, now: number, limit: number): Promise<Alert[]>;
  /** Partitions that have such alerts. */
  lapsedPartitions(now: number): Promise<number[]>;
  /** Notes that the condition of an alert is met for longer than was known. */
  extend(alert: Alert, metUntil: number): Promise<void>;
}

export interface AlertStoreDeps {
  connection: Connection;
  channels: Pick<MongoChannelStore, 'enabled'>;
  notifications: NotificationStore;
}

export function createAlertStore({ connection, channels, notifications }: AlertStoreDeps): MongoAlertStore {
  const alerts = connection.model<StoredAlert>('Alert', alertSchema);
  const open = () => ({ status: trusted({ $in: OPEN }) });

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

    async acknowledge(tenantId, alertId, acknowledgedBy, acknowledgedAt) {
      const update = { $set: { status: 'acknowledged' as const, acknowledgedAt, acknowledgedBy } };
      const options = { returnDocument: 'after' } as const;
      const stored = await alerts
        .findOneAndUpdate({ _id: alertId, tenantId, status: 'firing' }, update, options)
        .lean();
      return stored === null ? null : toAlert(stored);
    },

    resolve: (tenantId, alertId, resolvedAt) =>
      withTransaction(connection, async (session) => {
        const update = { $set: { status: 'resolved' as const, resolvedAt } };
        const options = { session, returnDocument: 'after' } as const;
        const stored = await alerts.findOneAndUpdate({ _id: alertId, tenantId, ...open() }, update, options).lean();
        if (stored === null) return null;
        const alert = toAlert(stored);
        const told = await channels.enabled(session, tenantId, alert.channelIds);
        const trace = activeTrace();
        const fresh = told.map((channel) => ({ alert, type: 'alert.resolved' as const, channel, trace }));
        await notifications.queue(session, fresh, resolvedAt);
        return alert;
      }),

    deliveries: notifications.deliveries,
    countUndelivered: notifications.countUndelivered,

    async insertNew(session, partition, fired) {
      const ids = fired.map(({ id }) => id);
      const known = await alerts.find({ _id: trusted({ $in: ids }) }, { _id: 1 }, { session }).lean();
      const knownIds = new Set(known.map(({ _id }) => _id));
      const fresh = fired.filter(({ id }) => !knownIds.has(id));
      const stored = fresh.map(({ id, ...fields }) => ({ _id: id, partition, ...fields }));
      // Lean: nothing that the evaluator made needs a cast, and casting costs more than storing.
      await alerts.insertMany(stored, { session, lean: true });
      return fresh;
    },

    async lapsed(partition, now, limit) {
      const filter = { partition, metUntil: trusted({ $lte: now }), ...open() };
      return (await alerts.find(filter).sort({ metUntil: 1 }).limit(limit).lean()).map(toAlert);
    },

    lapsedPartitions: (now) => alerts.distinct('partition', { metUntil: trusted({ $lte: now }), ...open() }),

    async extend({ id, tenantId }, metUntil) {
      await alerts.updateOne({ _id: id, tenantId }, { $max: { metUntil } });
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

function toAlert({ _id, tenantId, partition: _partition, ...fields }: StoredAlert): Alert {
  return { id: _id, tenantId: provenTenantId(tenantId), ...fields };
}
