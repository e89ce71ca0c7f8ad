import type { AuditTrail } from '@tollkeeper/audit-trail';
import { encodeGatewayEvent } from '@tollkeeper/contracts';
import type { Outbox, OutboxRecord } from '@tollkeeper/event-log';
import { MAX_MICROS, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { changeInTurn } from '@tollkeeper/mongo';
import { activeTrace } from '@tollkeeper/runtime';
import { type ClientSession, type Connection, type Model, Schema, trusted } from 'mongoose';
import {
  AUDITED_RAISE,
  GRANTED_STATES,
  type GrantedRaises,
  type KnownRaises,
  type Raise,
  type RaiseState,
  type RaiseStore,
  raiseTarget,
} from '../domain/raise.ts';

type StoredRaise = Omit<Raise, 'id'> & { _id: string; tenantId: string };

const text = { type: String, required: true } as const;
const number = { type: Number, required: true } as const;
const date = { type: Date, required: true } as const;
const textOrNull = { type: String, default: null } as const;
const dateOrNull = { type: Date, default: null } as const;
const mixedOrNull = { type: Schema.Types.Mixed, default: null } as const;
/** More than a year, so that statements of a year have them. */
const KEPT_SECONDS = 400 * 86_400;
const HOUR_MS = 3_600_000;

const raiseSchema = new Schema<StoredRaise>(
  {
    _id: text,
    tenantId: text,
    state: text,
    budgetId: text,
    budgetName: text,
    value: textOrNull,
    extraMicros: number,
    until: date,
    reason: text,
    requestId: textOrNull,
    askedBy: { type: Schema.Types.Mixed, required: true },
    askedMicros: number,
    askedUntil: date,
    createdAt: date,
    decidedBy: mixedOrNull,
    decidedAt: dateOrNull,
    declineReason: textOrNull,
    endedBy: mixedOrNull,
    endedAt: dateOrNull,
  },
  { collection: 'raises', versionKey: false },
);
raiseSchema.index({ tenantId: 1, createdAt: -1, _id: -1 });
raiseSchema.index({ tenantId: 1, state: 1, until: 1 });
raiseSchema.index({ state: 1, until: 1 });
raiseSchema.index({ tenantId: 1, 'askedBy.id': 1, createdAt: -1 });
raiseSchema.index({ tenantId: 1, decidedAt: 1 });
raiseSchema.index({ until: 1 }, { expireAfterSeconds: KEPT_SECONDS });

interface StoredRevision {
  /** The tenant. */
  _id: string;
  /** Number of changes of its raises. */
  revision: number;
}

const revisionSchema = new Schema<StoredRevision>(
  { _id: text, revision: number },
  { collection: 'raise_revisions', versionKey: false },
);

const isOver = (now: Date) => ({ until: trusted({ $lte: now }) });
const isRunning = (now: Date) => ({ until: trusted({ $gt: now }) });

/** The condition of each state, which time alone can bring about. */
const HAS_STATE: Record<RaiseState, (now: Date) => object> = {
  requested: (now) => ({ state: 'requested', ...isRunning(now) }),
  active: (now) => ({ state: 'active', ...isRunning(now) }),
  declined: () => ({ state: 'declined' }),
  ended: (now) => ({ $or: [{ state: 'ended' }, { state: 'active', ...isOver(now) }] }),
  expired: (now) => ({ state: 'requested', ...isOver(now) }),
};

/** Raises in the database of `connection`. Make it before the connection starts. */
export function createRaiseStore(connection: Connection, trail: AuditTrail, requests: Outbox): RaiseStore {
  const raises = connection.model<StoredRaise>('Raise', raiseSchema);
  const revisions = connection.model<StoredRevision>('RaiseRevision', revisionSchema);

  /** Makes concurrent changes conflict in all replicas, so that each decides on the result of the one before. */
  const takeTurn = (tenantId: TenantId, session: ClientSession) =>
    revisions.updateOne({ _id: tenantId }, { $inc: { revision: 1 } }, { session, upsert: true });

  const countOf = (tenantId: TenantId, state: RaiseState, now: Date, session?: ClientSession) =>
    raises.countDocuments({ tenantId, ...HAS_STATE[state](now) }, session && { session });

  async function knownFor(tenantId: TenantId, raise: Raise, session?: ClientSession): Promise<KnownRaises> {
    const options = session && { session };
    const { requestId, createdAt: now, askedBy } = raise;
    const ofAsker = { tenantId, 'askedBy.id': askedBy.id };
    const same = requestId === null ? null : await raises.findOne({ ...ofAsker, requestId }, null, options).lean();
    const isRecent = { createdAt: trusted({ $gt: new Date(now.getTime() - HOUR_MS) }) };
    return {
      same: same && toRaise(same),
      inForce: await countOf(tenantId, 'active', now, session),
      requested: await countOf(tenantId, 'requested', now, session),
      ofAsker: await raises.countDocuments({ ...ofAsker, $or: [isRecent, HAS_STATE.requested(now)] }, options),
    };
  }

  return {
    async list(tenantId, { state, budgetId, after, limit }, now) {
      const ofState = state === undefined ? {} : HAS_STATE[state](now);
      const older = after && {
        $or: [
          { createdAt: trusted({ $lt: after.createdAt }) },
          { createdAt: after.createdAt, _id: trusted({ $lt: after.id }) },
        ],
      };
      const found = await raises
        .find({ $and: [{ tenantId, ...(budgetId !== undefined && { budgetId }) }, ofState, older ?? {}] })
        .sort({ createdAt: -1, _id: -1 })
        .limit(limit)
        .lean();
      return found.map(toRaise);
    },

    async find(tenantId, id) {
      const stored = await raises.findOne({ _id: id, tenantId }).lean();
      return stored && toRaise(stored);
    },

    async inForce(tenantId, now) {
      const found = await raises.find({ tenantId, ...HAS_STATE.active(now) }).lean();
      return found.map(toRaise);
    },

    lapsed: (...asked) => lapsed(raises, ...asked),
    grantedIn: (...asked) => grantedIn(raises, ...asked),

    async add(tenantId, raise, decide, cause) {
      // A flood of requests is refused before it takes turns, and each asker has turns of its own.
      decide(await knownFor(tenantId, raise));
      return changeInTurn(connection, `${tenantId} ${raise.askedBy.id}`, async (session) => {
        const decided = decide(await knownFor(tenantId, raise, session));
        if (decided !== raise) return decided;
        await takeTurn(tenantId, session);
        await raises.create([{ _id: raise.id, ...toStored(tenantId, raise) }], { session });
        const change = { target: raiseTarget(raise), fields: AUDITED_RAISE, before: null, after: raise };
        await trail.recordChange(session, tenantId, cause, change);
        if (raise.state === 'requested') await requests.add(session, [toRecord(tenantId, raise)]);
        return raise;
      });
    },

    change: (tenantId, id, now, decide, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        const stored = await raises.findOne({ _id: id, tenantId }, null, { session }).lean();
        if (stored === null) return null;
        const before = toRaise(stored);
        const after = decide(before, await countOf(tenantId, 'active', now, session));
        if (after === before) return before;
        await takeTurn(tenantId, session);
        await raises.replaceOne({ _id: id, tenantId }, toStored(tenantId, after), { session });
        // All that was asked for and granted is in one record.
        const change = { target: raiseTarget(after), fields: AUDITED_RAISE, before: null, after };
        await trail.recordChange(session, tenantId, cause, change);
        return after;
      }),
  };
}

async function lapsed(raises: Model<StoredRaise>, ...[now, limit]: Parameters<RaiseStore['lapsed']>) {
  const found = await raises
    .find({ state: 'active', ...isOver(now) }, { tenantId: 1 })
    .sort({ until: 1 })
    .limit(limit)
    .lean();
  return found.map(({ _id, tenantId }) => ({ tenantId: provenTenantId(tenantId), id: _id }));
}

async function grantedIn(
  raises: Model<StoredRaise>,
  ...[tenantId, { start, end }, max]: Parameters<RaiseStore['grantedIn']>
): Promise<GrantedRaises> {
  const decidedAt = trusted({ $gte: new Date(start), $lt: new Date(end) });
  const granted = { tenantId, decidedAt, state: trusted({ $in: GRANTED_STATES }) };
  const [largest, [all]] = await Promise.all([
    raises.find(granted).sort({ extraMicros: -1, decidedAt: 1, _id: 1 }).limit(max).lean(),
    raises.aggregate<{ count: number; micros: number }>([
      { $match: granted },
      { $group: { _id: null, count: { $sum: 1 }, micros: { $sum: '$extraMicros' } } },
    ]),
  ]);
  return { largest: largest.map(toRaise), count: all?.count ?? 0, micros: Math.min(all?.micros ?? 0, MAX_MICROS) };
}

function toRaise({ _id, tenantId: _tenantId, ...fields }: StoredRaise): Raise {
  return { id: _id, ...fields };
}

function toStored(tenantId: TenantId, { id: _id, ...fields }: Raise): Omit<StoredRaise, '_id'> {
  return { tenantId, ...fields };
}

/** The event by which alert rules notify owners. Its id is that of the raise, so it counts once. */
function toRecord(tenantId: TenantId, raise: Raise): OutboxRecord {
  const { id, budgetId, budgetName, value, extraMicros, until, reason, askedBy, createdAt } = raise;
  const time = createdAt.toISOString();
  const data = {
    ...{ raise_id: id, budget_id: budgetId, budget_name: budgetName, ...(value !== null && { value }) },
    ...{ extra_micros: extraMicros, until: until.toISOString(), reason, asked_by: askedBy.name },
  };
  const event = { specversion: '1.0', id, source: 'tollkeeper/budgets', type: 'raise.requested', time, data } as const;
  return { id, ...encodeGatewayEvent({ tenantId, receivedAt: time, event }), trace: activeTrace() };
}
