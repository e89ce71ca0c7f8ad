import { MAX_EVENT_TIME_AHEAD_MS } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { rollupDeltas, type RollupDelta } from './rollup.ts';
import { createRollupCounter, createRunCounter, PACKED_COST } from './rollup.cost.ts';
import { namesOf, withOther, type NamesOfDay, type OtherNames } from './names.ts';
import type { PartCounts } from './rollup.parts.ts';
import { runStarts, type RunStart } from './run.ts';
import { isBlocked, withoutDuplicates, type DashboardEvent } from './event.ts';

/** The writes of {@link recordEvents}. All calls with one `Session` take effect together or not at all. */
export interface EventRecorder<Session> {
  /** The `identitiesOf` these events that were counted before. */
  knownIdentities(session: Session, events: DashboardEvent[]): Promise<Set<string>>;
  /** The known time of the first event of these runs, by `runKey`. Unknown runs are absent. */
  knownRunStarts(session: Session, runs: { tenantId: TenantId; runId: string }[]): Promise<Map<string, number>>;
  insert(session: Session, events: DashboardEvent[], starts: RunStart[]): Promise<void>;
  /** Takes these names as names that roll-ups tell apart, and returns those that are too many. */
  addNames(session: Session, names: NamesOfDay[]): Promise<NamesOfDay[]>;
  /** After {@link addNames} has taken the models of the deltas. */
  addToRollups(session: Session, deltas: RollupDelta[]): Promise<void>;
  rollupPartsOf(tenantId: TenantId): PartCounts;
}

export interface Recorded {
  /** The number of events that were not counted before. */
  counted: number;
  /** Those of them whose names roll-ups do not tell apart. */
  others: OtherNames[];
}

/**
 * Counts each event that was not counted before, in raw events and in roll-ups. Idempotent: repeating events, in any
 * order and mixture, changes nothing.
 */
export async function recordEvents<Session>(
  recorder: EventRecorder<Session>,
  session: Session,
  events: DashboardEvent[],
): Promise<Recorded> {
  const fresh = withoutDuplicates(events, await recorder.knownIdentities(session, events));
  if (fresh.length === 0) return { counted: 0, others: [] };
  const starts = runStarts(fresh, await recorder.knownRunStarts(session, runsOf(fresh)));
  await recorder.insert(session, fresh, starts);
  const { events: toAdd, others } = withOther(fresh, await recorder.addNames(session, namesOf(fresh)));
  await recorder.addToRollups(session, rollupDeltas(toAdd, starts));
  return { counted: fresh.length, others };
}

/** How far the clocks of the services that take events may be ahead of this one. */
const CLOCK_SKEW_MS = 5 * 60_000;

/**
 * Makes a function that counts, for one event after the other, how many further documents {@link recordEvents} writes
 * at most. These are the event, the roll-ups that it is the first to touch, the start of its run, and the roll-ups that
 * this start leaves when it moves back. `now` is the time in Unix milliseconds.
 */
export function createWriteCounter(
  recorder: Pick<EventRecorder<never>, 'rollupPartsOf'>,
  now: number,
): (event: DashboardEvent) => number {
  const ofRollups = createRollupCounter(recorder.rollupPartsOf);
  const ofRuns = createRunCounter(now + MAX_EVENT_TIME_AHEAD_MS + CLOCK_SKEW_MS);
  return (event) => (isBlocked(event) ? 1 : PACKED_COST) + ofRuns(event) + ofRollups(event);
}

function runsOf(events: DashboardEvent[]): { tenantId: TenantId; runId: string }[] {
  return events.flatMap(({ tenantId, data }) => (data.run_id === undefined ? [] : [{ tenantId, runId: data.run_id }]));
}
