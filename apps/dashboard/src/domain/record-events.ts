import { MAX_EVENT_TIME_AHEAD_MS } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { rollupDeltas, type RollupDelta } from './rollup.ts';
import { createRollupCounter, createRunCounter, PACKED_COST } from './rollup.cost.ts';
import { namesOf, withOther, type NamesOfDay, type OtherNames } from './names.ts';
import type { PartCounts } from './rollup.parts.ts';
import { runOf, runStarts, type RunStart } from './run.ts';
import { isBlocked, withoutDuplicates, type DashboardEvent, type KnownIdentities, type SettledAgain } from './event.ts';

/** The writes of {@link recordEvents}. All calls with one `Session` take effect together or not at all. */
export interface EventRecorder<Session> {
  /** The `identitiesOf` these events that were counted before. */
  knownIdentities(session: Session, events: DashboardEvent[]): Promise<KnownIdentities>;
  /** The known times of the first events of these runs, by `runKey`. Unknown runs are absent. */
  knownRunStarts(session: Session, runs: { tenantId: TenantId; runId: string }[]): Promise<Map<string, number>>;
  insert(session: Session, events: DashboardEvent[], starts: RunStart[]): Promise<void>;
  /** Adds the names that still have room in the roll-ups, and returns those beyond the limit. */
  addNames(session: Session, names: NamesOfDay[]): Promise<NamesOfDay[]>;
  /** Call it after {@link addNames} has added the models of the deltas. */
  addToRollups(session: Session, deltas: RollupDelta[]): Promise<void>;
  rollupPartsOf(tenantId: TenantId): PartCounts;
}

export interface Recorded {
  /** The number of events that were not counted before. */
  counted: number;
  /** The settlements among the others. */
  settledAgain: SettledAgain;
  /** How many of the counted events have names beyond the limit. */
  others: OtherNames[];
}

/**
 * Counts each event that was not counted before, in raw events and in roll-ups. Idempotent: repeating events changes
 * nothing, in any order and mixture.
 */
export async function recordEvents<Session>(
  recorder: EventRecorder<Session>,
  session: Session,
  events: DashboardEvent[],
): Promise<Recorded> {
  const { fresh, settledAgain } = withoutDuplicates(events, await recorder.knownIdentities(session, events));
  if (fresh.length === 0) return { counted: 0, settledAgain, others: [] };
  const starts = runStarts(fresh, await recorder.knownRunStarts(session, runsOf(fresh)));
  await recorder.insert(session, fresh, starts);
  const { events: toAdd, others } = withOther(fresh, await recorder.addNames(session, namesOf(fresh)));
  await recorder.addToRollups(session, rollupDeltas(toAdd, starts));
  return { counted: fresh.length, settledAgain, others };
}

/** How far the clocks of services that accept events may be ahead of this one. */
const CLOCK_SKEW_MS = 5 * 60_000;

/**
 * Makes a function that says for each event in turn how many further documents {@link recordEvents} writes at most.
 * These are the event, the roll-ups that no earlier event touched, the start of its run, and the roll-ups that this
 * start leaves when it moves back. `now` is the time in Unix milliseconds.
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
  return events.flatMap((event) => {
    const runId = runOf(event);
    return runId === undefined ? [] : [{ tenantId: event.tenantId, runId }];
  });
}
