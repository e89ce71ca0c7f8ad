import { MAX_EVENT_TIME_AHEAD_MS } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import {
  bucketDeltas,
  createBucketCounter,
  createRunCounter,
  runStarts,
  type BucketDelta,
  type RunStart,
} from './bucket.ts';
import { withoutDuplicates, type DashboardEvent } from './event.ts';

/** The writes of {@link recordEvents}. All calls made with one `Session` take effect together or not at all. */
export interface EventRecorder<Session> {
  /** Those of the events' `identitiesOf` that were counted before. */
  knownIdentities(session: Session, events: DashboardEvent[]): Promise<Set<string>>;
  /** The known time of the first event, by `runKey`, of those of the runs that are known. */
  knownRunStarts(session: Session, runs: { tenantId: TenantId; runId: string }[]): Promise<Map<string, number>>;
  insertEvents(session: Session, events: DashboardEvent[]): Promise<void>;
  saveRunStarts(session: Session, starts: RunStart[]): Promise<void>;
  addToBuckets(session: Session, deltas: BucketDelta[]): Promise<void>;
}

/**
 * Counts each event that was not counted before, in raw events and roll-ups alike, and answers how many those were.
 * Idempotent: the same events again, in any order and mixture, change nothing.
 */
export async function recordEvents<Session>(
  recorder: EventRecorder<Session>,
  session: Session,
  events: DashboardEvent[],
): Promise<number> {
  const fresh = withoutDuplicates(events, await recorder.knownIdentities(session, events));
  if (fresh.length === 0) return 0;
  const starts = runStarts(fresh, await recorder.knownRunStarts(session, runsOf(fresh)));
  await recorder.insertEvents(session, fresh);
  await recorder.saveRunStarts(session, starts);
  await recorder.addToBuckets(session, bucketDeltas(fresh, starts));
  return fresh.length;
}

/** Clocks of those who take events in may go ahead of the one here by as much. */
const CLOCK_SKEW_MS = 5 * 60_000;

/**
 * Says of each event, one after the other, how many documents {@link recordEvents} writes for it at most beside those
 * of the events before: itself, its buckets (ten where it is alone in them, none among its like), the start of its run,
 * and the buckets that this start leaves when it moves back. `now` is the time in Unix milliseconds.
 */
export function createWriteCounter(now: number): (event: DashboardEvent) => number {
  const ofBuckets = createBucketCounter();
  const ofRuns = createRunCounter(now + MAX_EVENT_TIME_AHEAD_MS + CLOCK_SKEW_MS);
  return (event) => 1 + ofRuns(event) + ofBuckets(event);
}

function runsOf(events: DashboardEvent[]): { tenantId: TenantId; runId: string }[] {
  return events.flatMap(({ tenantId, data }) => (data.run_id === undefined ? [] : [{ tenantId, runId: data.run_id }]));
}
