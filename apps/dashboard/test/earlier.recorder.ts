import type { ClientSession, Connection, mongo } from 'mongoose';
import { SPEND_SETTLED } from '../src/domain/event.ts';
import { AGENT_GRAINS, GRAIN_MS, GRAINS } from '../src/domain/grain.ts';
import type { EventRecorder } from '../src/domain/record-events.ts';
import type { EventStore } from '../src/store/event.store.ts';
import type { RunStore } from '../src/store/run.store.ts';
import { runKey } from '../src/domain/run.ts';
import { tallyOf } from '../src/domain/tally.ts';

type Upsert = mongo.AnyBulkWriteOperation<{ _id: string }>;

/**
 * Records as releases up to 0.1 did: a document for each event and each run, and one of `buckets` for each scope and
 * grain.
 */
export function createEarlierRecorder(
  connection: Connection,
  recorder: EventRecorder<ClientSession>,
  stores: { events: Pick<EventStore, 'insert'>; runs: RunStore },
): EventRecorder<ClientSession> {
  const runs = connection.collection<{ _id: string }>('runs');
  const buckets = connection.collection<{ _id: string }>('buckets');
  return {
    ...recorder,
    addToRollups: async () => undefined,
    knownRunStarts: stores.runs.knownStarts,
    async insert(session, events, starts) {
      await stores.events.insert(session, events);
      for (const { tenantId, runId, to } of starts) {
        const $set = { tenant_id: tenantId, first_at: new Date(to) };
        await runs.updateOne({ _id: runKey(tenantId, runId) }, { $set }, { upsert: true, session });
      }
      const upserts = events.flatMap((event) => {
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
