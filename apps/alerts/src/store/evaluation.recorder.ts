import type { Clock, TenantId } from '@tollkeeper/kernel';
import { type OffsetStore, type OffsetStep, withTransaction } from '@tollkeeper/mongo';
import type { TraceHeaders } from '@tollkeeper/runtime';
import type { ClientSession, Connection } from 'mongoose';
import { type Alert, toAlert } from '../domain/alert.ts';
import type { Evaluation } from '../domain/evaluation.ts';
import type { Decision } from '../domain/evaluator.ts';
import type { SavedWindow } from '../domain/partition.evaluator.ts';
import { savedBytesOf } from '../domain/rule-kinds.ts';
import type { AlertFanOut } from './alert.fan-out.ts';
import type { MongoAlertStore } from './alert.store.ts';
import type { MongoEvaluationStore } from './evaluation.store.ts';
import type { MongoRuleStore, RuleReference } from './rule.store.ts';
import type { SetAsideChanges, SetAsideStore } from './set-aside.store.ts';
import type { WindowStore } from './window.store.ts';

/** What reading a stretch of the log has come to. */
interface Progress {
  step: OffsetStep;
  /** May be gone through several times. */
  windows: Iterable<SavedWindow>;
  setAside: SetAsideChanges;
  /** In the order in which they were made; of each place of a rule the last one. */
  decisions: Decision[];
  traces: AlertTraces;
}

/** The traces that fired alerts belong to, by the alerts' ids; empty while nothing is traced. */
export type AlertTraces = ReadonlyMap<string, TraceHeaders>;

/** Where a partition stands. */
interface Standing {
  /** Null: nothing was read. */
  position: number | null;
  /** The workspaces that are set aside, with since when, epoch milliseconds. */
  setAside: Map<TenantId, number>;
}

/** The results of the evaluation: the position and all that was decided before it. */
export interface EvaluationRecorder {
  standing(topic: string, partition: number): Promise<Standing>;
  /**
   * The windows of workspaces of the partition, as the last record has left them. Should another owner have recorded
   * since, they are newer than that, and recording what follows from them is refused.
   */
  load(partition: number, tenantIds: readonly TenantId[]): AsyncIterable<SavedWindow>;
  /** About how many bytes the windows of the workspace take. */
  sizeOf(partition: number, tenantId: TenantId): Promise<number>;
  /**
   * Stores position, windows, alerts, their notifications and the decisions. Rejects with `OffsetConflict` when another
   * owner came first, and with an error that `isRefusal` knows when it may be too much at once.
   *
   * Alerts that are too much for one transaction are stored in several ahead of the position, with their notifications.
   * After a rejection or a crash some of them may be there: recording what reading the same events again comes to adds
   * those that are missing.
   */
  record(progress: Progress): Promise<void>;
  /** Writes where the partition stands once more. Rejects where MongoDB does not take as little as that either. */
  touch(topic: string, partition: number): Promise<void>;
}

/** A rule whose window is saved. */
interface ChangedRule extends RuleReference {
  /** Number of its last decision. */
  last: number;
}

/** How many documents and about how many bytes. */
interface Size {
  documents: number;
  bytes: number;
}

/** What is recorded in one transaction: it has to fit into the store's cache and time. */
const MAX_TRANSACTION: Size = { documents: 3000, bytes: 6 * 1024 * 1024 };

/** Windows are copied and encoded in slices of so many bytes. */
const MAX_WINDOWS_SLICE_BYTES = 4 * 1024 * 1024;

/** Milliseconds to retry a transaction. The other workspaces of the partition wait meanwhile. */
const RETRY_FOR_MS = 15_000;
const EVALUATION_BYTES = 500;
/** Without the ids of events and the types, and with what its indexes take. */
const ALERT_BYTES = 1500;
const DELIVERY_BYTES = 1000;

export interface EvaluationRecorderDeps {
  connection: Connection;
  offsets: OffsetStore;
  windows: WindowStore;
  setAside: SetAsideStore;
  rules: Pick<MongoRuleStore, 'forgetMissing'>;
  alerts: Pick<MongoAlertStore, 'insertNew'>;
  fanOut: AlertFanOut;
  evaluations: Pick<MongoEvaluationStore, 'record'>;
  clock: Clock;
}

export function createEvaluationRecorder(deps: EvaluationRecorderDeps): EvaluationRecorder {
  const { connection, offsets, windows, setAside, rules, alerts, fanOut, evaluations, clock } = deps;

  async function recordFires(
    session: ClientSession,
    { step: { partition }, traces }: Progress,
    fired: readonly Decision[],
  ): Promise<void> {
    if (fired.length === 0) return;
    const fresh = await alerts.insertNew(session, partition, fired.map(toAlert));
    if (fresh.length === 0) return;
    const traceOf = ({ id }: Alert): TraceHeaders | undefined => traces.get(id);
    await fanOut.tell(session, { type: 'alert.fired', alerts: fresh, at: clock(), traceOf });
  }

  /** A rule without a window was deleted meanwhile: nobody would find its evaluations any more. */
  async function recordDecisions(
    session: ClientSession,
    { decisions }: Progress,
    changed: readonly ChangedRule[],
  ): Promise<void> {
    const now = clock();
    const byRule = Map.groupBy(decisions, ({ rule }) => rule.id);
    const ofRules = changed.map((rule) => {
      const made = (byRule.get(rule.ruleId) ?? []).map((decision) => toEvaluation(decision, now));
      return { ...rule, evaluations: made };
    });
    await evaluations.record(session, ofRules);
  }

  /** Some at a time: all of them may be large, and are copies of what is in memory. */
  async function recordWindows(session: ClientSession, { step, windows: changed }: Progress): Promise<ChangedRule[]> {
    const rules: ChangedRule[] = [];
    let slice: SavedWindow[] = [];
    let bytes = 0;
    const saveSlice = async (): Promise<void> => {
      await windows.save(session, step.partition, slice);
      [slice, bytes] = [[], 0];
    };
    for (const window of changed) {
      const { tenantId, ruleId, history, condition } = window;
      rules.push({ tenantId, ruleId, last: history.decisions });
      slice.push(window);
      bytes += savedBytesOf(condition);
      if (bytes >= MAX_WINDOWS_SLICE_BYTES) await saveSlice();
    }
    await saveSlice();
    return rules;
  }

  const inTransaction = (work: (session: ClientSession) => Promise<void>): Promise<void> =>
    withTransaction(connection, work, { retryForMs: RETRY_FOR_MS });

  return {
    async standing(topic, partition) {
      // Read first: should anything else be newer than the position, recording what follows is refused.
      const position = await offsets.position(topic, partition);
      for await (const some of windows.references(partition)) {
        await withTransaction(connection, (session) => rules.forgetMissing(session, some));
      }
      return { position, setAside: await setAside.ofPartition(partition) };
    },
    load: windows.load,
    sizeOf: windows.sizeOf,
    async record(progress) {
      const { step, decisions } = progress;
      const pieces = inPieces(decisions.filter(({ outcome }) => outcome === 'fired'));
      // The rest is stored with the position.
      const last = pieces.length === 1 ? pieces.pop()! : [];
      for (const fired of pieces) {
        await inTransaction(async (session) => {
          await offsets.hold(session, step);
          await recordFires(session, progress, fired);
        });
      }
      await inTransaction(async (session) => {
        await offsets.advance(session, step);
        const changed = await recordWindows(session, progress);
        await setAside.record(session, step.partition, progress.setAside);
        await recordFires(session, progress, last);
        await recordDecisions(session, progress, changed);
      });
    },
    async touch(topic, partition) {
      const from = await offsets.position(topic, partition);
      await inTransaction((session) => offsets.hold(session, { topic, partition, from }));
    },
  };
}

/** The decisions in their order, in pieces that fit into one transaction each. */
function inPieces(decisions: readonly Decision[]): Decision[][] {
  const pieces: Decision[][] = [];
  let size: Size = { documents: Infinity, bytes: Infinity };
  for (const decision of decisions) {
    const { documents, bytes } = sizeOfDecision(decision);
    size = { documents: size.documents + documents, bytes: size.bytes + bytes };
    if (size.documents <= MAX_TRANSACTION.documents && size.bytes <= MAX_TRANSACTION.bytes) {
      pieces.at(-1)!.push(decision);
    } else {
      pieces.push([decision]);
      size = { documents, bytes };
    }
  }
  return pieces;
}

/** What storing a decision takes, about. */
export function sizeOfDecision({ outcome, rule, evidence }: Decision): Size {
  if (outcome === 'suppressed') return { documents: 1, bytes: EVALUATION_BYTES };
  const samples = evidence.sampleEventIds.reduce((sum, id) => sum + id.length, 0);
  const types = rule.eventTypes.reduce((sum, type) => sum + type.length, 0);
  const alert = ALERT_BYTES + samples + types;
  // For each channel its delivery, and what goes to the log: the alert once more.
  const told = rule.channelIds.length;
  return { documents: 2 + 2 * told, bytes: EVALUATION_BYTES + alert + told * (DELIVERY_BYTES + alert) };
}

function toEvaluation(decision: Decision, evaluatedAt: number): Evaluation {
  const { number, count, outcome, reason, rule, event, evidence, cooldownUntil } = decision;
  return {
    number,
    count,
    outcome,
    reason,
    alertId: outcome === 'fired' ? toAlert(decision).id : null,
    eventId: event.id,
    eventTime: event.time,
    windowStart: evidence.windowStart,
    windowEnd: evidence.windowEnd,
    eventCount: evidence.eventCount,
    settledMicros: evidence.settledMicros,
    condition: rule.condition,
    cooldownUntil,
    evaluatedAt,
  };
}
