import type { ClientSession, Connection, mongo } from 'mongoose';
import { BLOCKED_TYPES, eventKey, SPEND_SETTLED } from '../src/domain/event.ts';
import { AGENT_GRAINS, GRAIN_MS, GRAINS } from '../src/domain/grain.ts';
import type { EventRecorder } from '../src/domain/record-events.ts';
import { createEarlierEvents, type EventDocument } from '../src/store/earlier.events.ts';
import { createEarlierRuns } from '../src/store/earlier.runs.ts';
import { runKey } from '../src/domain/run.ts';
import { tallyOf } from '../src/domain/tally.ts';

type Upsert = mongo.AnyBulkWriteOperation<{ _id: string }>;

/** Makes the collections of 0.1, with its indexes. */
export async function createEarlierCollections(connection: Connection): Promise<void> {
  const [events, runs, buckets] = ['events', 'runs', 'buckets'].map((name) => connection.collection(name));
  const settled = { type: SPEND_SETTLED };
  const blocked = { type: { $in: [...BLOCKED_TYPES] } };
  const retained = { expireAfterSeconds: 2_147_483_647 };
  await events!.createIndex({ tenant_id: 1, time: 1 });
  await events!.createIndex({ tenant_id: 1, 'data.agent_id': 1, time: 1 });
  await events!.createIndex({ tenant_id: 1, 'data.run_id': 1, time: 1 });
  const bySettlement = { tenant_id: 1, 'data.settlement_id': 1 } as const;
  await events!.createIndex(bySettlement, { unique: true, partialFilterExpression: settled });
  await events!.createIndex({ tenant_id: 1, type: 1, time: -1, _id: -1 }, { partialFilterExpression: blocked });
  await events!.createIndex({ tenant_id: 1, type: 1, event_id: 1 }, { partialFilterExpression: blocked });
  await events!.createIndex({ time: 1 }, retained);
  await runs!.createIndex({ tenant_id: 1, first_at: 1 });
  await runs!.createIndex({ first_at: 1 }, retained);
  await buckets!.createIndex({ tenant_id: 1, level: 1, grain: 1, start: 1, agent_id: 1 });
  await buckets!.createIndex({ tenant_id: 1, level: 1, agent_id: 1, grain: 1, start: 1 });
}

/**
 * Records as releases up to 0.1 did: a document for each event and each run, and one of `buckets` for each scope and
 * grain.
 */
export function createEarlierRecorder(connection: Connection): EventRecorder<ClientSession> {
  const events = connection.collection<EventDocument>('events');
  const runs = connection.collection<{ _id: string }>('runs');
  const buckets = connection.collection<{ _id: string }>('buckets');
  return {
    knownIdentities: createEarlierEvents(connection).knownIdentities,
    knownRunStarts: createEarlierRuns(connection).knownRunStarts,
    rollupPartsOf: () => ({ agents: 1, days: 1, plans: 1 }),
    addNames: async () => [],
    addToRollups: async () => undefined,
    async insert(session, fresh, starts) {
      const documents = fresh.map(({ tenantId, eventId, time, ...event }): EventDocument => {
        const key = eventKey({ tenantId, eventId, ...event });
        return { _id: key, tenant_id: tenantId, event_id: eventId, ...event, time: new Date(time) };
      });
      if (documents.length > 0) await events.insertMany(documents, { session });
      for (const { tenantId, runId, to } of starts) {
        const $set = { tenant_id: tenantId, first_at: new Date(to) };
        await runs.updateOne({ _id: runKey(tenantId, runId) }, { $set }, { upsert: true, session });
      }
      const upserts = fresh.flatMap((event) => {
        const { totalMicros, settlements, inputTokens, outputTokens, budgetBlocked, guardBlocked } = tallyOf(event);
        const $inc = {
          ...{ total_micros: totalMicros, settlements, input_tokens: inputTokens, output_tokens: outputTokens },
          ...{ budget_blocked: budgetBlocked, guard_blocked: guardBlocked },
        };
        const change = { $inc, $max: { last_at: new Date(event.time) } };
        return scopesOf(event).flatMap((scope) =>
          (scope.level === 'workspace' ? GRAINS : AGENT_GRAINS).map((grain) =>
            upsert(event.tenantId, scope, grain, event.time, change),
          ),
        );
      });
      const moved = (tenantId: string, time: number, runs: number): Upsert[] =>
        GRAINS.map((grain) => upsert(tenantId, { level: 'workspace' }, grain, time, { $inc: { runs_started: runs } }));
      for (const { tenantId, from, to } of starts) {
        upserts.push(...moved(tenantId, to, 1), ...(from === undefined ? [] : moved(tenantId, from, -1)));
      }
      if (upserts.length > 0) await buckets.bulkWrite(upserts, { session });
    },
  };
}

function scopesOf({ type, data }: Parameters<typeof tallyOf>[0]) {
  const { agent_id, model } = data;
  return [
    { level: 'workspace' },
    ...(agent_id === undefined ? [] : [{ level: 'agent', agent_id }]),
    ...(agent_id === undefined || type !== SPEND_SETTLED
      ? []
      : [{ level: 'model', agent_id, ...(model && { model }) }]),
  ];
}

function upsert(
  tenantId: string,
  scope: { level: string; agent_id?: string; model?: string },
  grain: keyof typeof GRAIN_MS,
  time: number,
  change: object,
): Upsert {
  const start = Math.floor(time / GRAIN_MS[grain]) * GRAIN_MS[grain];
  const _id = [tenantId, grain, start, scope.level, `${scope.agent_id ?? ''}${scope.model ? `|${scope.model}` : ''}`];
  const $setOnInsert = { tenant_id: tenantId, ...scope, grain, start: new Date(start) };
  return { updateOne: { filter: { _id: _id.join('|') }, update: { $setOnInsert, ...change }, upsert: true } };
}
