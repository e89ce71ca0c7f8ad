import { setImmediate } from 'node:timers/promises';
import type { RecordBatch } from '@tollkeeper/event-log';
import type { TenantId } from '@tollkeeper/kernel';
import { isRefusal } from '@tollkeeper/mongo';
import { isLate } from '../domain/event.ts';
import type { EvaluationRecorder } from '../store/evaluation.recorder.ts';
import { type CountedEvent, countedEvents, type CountedEventsDeps } from './counted.events.ts';
import type { EvaluationMetrics } from './evaluation.metrics.ts';
import type { FireTraces } from './fire.traces.ts';
import type { PartitionSession } from './partition.session.ts';
import type { PartitionSessions } from './partition.sessions.ts';
import { createSaveRefusals, RefusedSave } from './save.refusals.ts';

/** Maximum time of evaluation before other work gets its turn. */
const MAX_STRETCH_MS = 20;

export interface BatchEvaluatorDeps extends CountedEventsDeps {
  sessions: PartitionSessions;
  recorder: EvaluationRecorder;
  metrics: EvaluationMetrics;
  traces: FireTraces;
  /** Called after alerts were stored. */
  onFired: () => void;
}

/** Evaluates batches of events, and stores the results. */
export interface BatchEvaluator {
  /** Call it in the partition's turn. It calls `stored` with each position that was stored in mid-batch. */
  evaluate(batch: RecordBatch, stored: (position: number) => void): Promise<void>;
  save(partition: number, session: PartitionSession): Promise<void>;
  /** Sets aside the event that cannot be stored, so that it does not block later events. */
  giveUp(batch: RecordBatch, refusal: RefusedSave): Promise<void>;
}

export function createBatchEvaluator(deps: BatchEvaluatorDeps): BatchEvaluator {
  const { sessions, recorder, metrics, traces, deadLetters } = deps;
  const refusals = createSaveRefusals({ deadLetters, recorder });

  async function save(partition: number, session: PartitionSession): Promise<void> {
    const { decisions, outcomes, events, lastOffset } = session.pending;
    try {
      await traces.whileSaved([...decisions.values()], session.save);
    } catch (error) {
      if (!isRefusal(error) || events === 0) throw error;
      refusals.refused(partition, events);
      throw new RefusedSave(lastOffset, error);
    }
    refusals.saved(partition);
    metrics.decided(outcomes);
    if (outcomes.fired > 0) deps.onFired();
  }

  return {
    async evaluate(batch, stored) {
      const { partition } = batch;
      const session = await sessions.at(batch);
      let stretchBeganAt = performance.now();
      const events = await countedEvents(batch, deps);
      for (const [index, { event, offset }] of events.entries()) {
        if (refusals.isSetAside(partition, offset)) continue;
        if (!session.isReady(event.tenantId)) await session.prepare(tenantsFrom(events, index));
        const evaluated = session.evaluate(event, offset);
        metrics.event(!evaluated ? 'set_aside' : isLate(event) ? 'late' : 'counted');
        if (session.full || session.pending.events >= refusals.limit(partition)) {
          await save(partition, session);
          stored(offset + 1);
        }
        if (performance.now() - stretchBeganAt < MAX_STRETCH_MS) continue;
        await setImmediate();
        stretchBeganAt = performance.now();
      }
      session.finish(batch);
      if (session.saveDue) await save(partition, session);
    },
    save,
    giveUp: refusals.giveUp,
  };
}

function* tenantsFrom(events: readonly CountedEvent[], first: number): Generator<TenantId> {
  for (let index = first; index < events.length; index += 1) yield events[index]!.event.tenantId;
}
