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

/** The writes of {@link recordEvents}. All calls with one `Session` take effect together or not at all. */
export interface EventRecorder<Session> {
  /** The `identitiesOf` these events that were counted before. */
  knownIdentities(session: Session, events: DashboardEvent[]): Promise<Set<string>>;
  /** The known time of the first event of these runs, by `runKey`. Unknown runs are absent. */
  knownRunStarts(session: Session, runs: { tenantId: TenantId; runId: string }[]): Promise<Map<string, number>>;
  insertEvents(session: Session, events: DashboardEvent[]): Promise<void>;
  saveRunStarts(session: Session, starts: RunStart[]): Promise<void>;
  addToBuckets(session: Session, deltas: BucketDelta[]): Promise<void>;
}

/**
 * Counts each event that was not counted before, in raw events and in roll-ups. Returns the number of these events.
 * Idempotent: repeating events, in any order and mixture, changes nothing.
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

/** How far the clocks of the services that take events may be ahead of this one. */
const CLOCK_SKEW_MS = 5 * 60_000;

/**
 * Makes a function that counts, for one event after the other, how many further documents {@link recordEvents} writes
 * at most. These are the event, its buckets (ten for the first event of a kind, none for similar ones), the start of
 * its run, and the buckets that this start leaves when it moves back. `now` is the time in Unix milliseconds.
 */
export function createWriteCounter(now: number): (event: DashboardEvent) => number {
  const ofBuckets = createBucketCounter();
  const ofRuns = createRunCounter(now + MAX_EVENT_TIME_AHEAD_MS + CLOCK_SKEW_MS);
  return (event) => 1 + ofRuns(event) + ofBuckets(event);
}

function runsOf(events: DashboardEvent[]): { tenantId: TenantId; runId: string }[] {
  return events.flatMap(({ tenantId, data }) => (data.run_id === undefined ? [] : [{ tenantId, runId: data.run_id }]));
}
