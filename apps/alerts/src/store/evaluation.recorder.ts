import type { Clock, TenantId } from '@tollkeeper/kernel';
import { type OffsetStore, type OffsetStep, withTransaction } from '@tollkeeper/mongo';
import type { TraceHeaders } from '@tollkeeper/runtime';
import type { ClientSession, Connection } from 'mongoose';
import { type Alert, toAlert } from '../domain/alert.ts';
import type { Evaluation } from '../domain/evaluation.ts';
import type { Decision } from '../domain/evaluator.ts';
import type { SavedWindow } from '../domain/partition.evaluator.ts';
import { channelsOf } from '../domain/rule.ts';
import { savedBytesOf } from '../domain/rule-kinds.ts';
import type { AlertFanOut } from './alert.fan-out.ts';
import type { MongoAlertStore } from './alert.store.ts';
import type { MongoEvaluationStore } from './evaluation.store.ts';
import type { MongoRuleStore, RuleReference } from './rule.store.ts';
import type { SetAsideChanges, SetAsideStore } from './set-aside.store.ts';
import type { WindowStore } from './window.store.ts';

/** The result of reading a part of the log. */
interface Progress {
  step: OffsetStep;
  /** May be iterated several times. */
  windows: Iterable<SavedWindow>;
  setAside: SetAsideChanges;
  /** In order; only the last decision for each place of a rule. */
  decisions: Decision[];
  traces: AlertTraces;
}

/** The traces of fired alerts, by alert id; empty without tracing. */
export type AlertTraces = ReadonlyMap<string, TraceHeaders>;

/** The stored state of a partition. */
interface Standing {
  /** Null if nothing was read yet. */
  position: number | null;
  /** Workspaces that are set aside, each with the time since when, epoch milliseconds. */
  setAside: Map<TenantId, number>;
}

/** Stores the results of the evaluation: the position, and all decisions before it. */
export interface EvaluationRecorder {
  standing(topic: string, partition: number): Promise<Standing>;
  /**
   * The windows of workspaces of the partition, as last stored. If another owner has stored newer ones, recording any
   * result based on them is refused.
   */
  load(partition: number, tenantIds: readonly TenantId[]): AsyncIterable<SavedWindow>;
  /** Approximate memory of the windows of the workspace, in bytes. */
  sizeOf(partition: number, tenantId: TenantId): Promise<number>;
  /**
   * Stores position, windows, alerts, notifications and decisions. Rejects with `OffsetConflict` if another owner was
   * first, and with an error for which `isRefusal` is true if it may have been too much at once.
   *
   * Alerts that exceed one transaction are stored before the position, in several transactions with their
   * notifications. After a rejection or a crash, some of them may be stored. Reading and recording the same events
   * again adds the missing ones.
   */
  record(progress: Progress): Promise<void>;
  /** Stores the position of the partition again. A rejection means that MongoDB refuses even this small write. */
  touch(topic: string, partition: number): Promise<void>;
}

/** A rule whose window was saved. */
interface ChangedRule extends RuleReference {
  /** Number of its last decision. */
  last: number;
}

/** Number of documents, and approximate bytes. */
interface Size {
  documents: number;
  bytes: number;
}

/** Limit of one transaction, which must fit into the store's cache and time limit. */
const MAX_TRANSACTION: Size = { documents: 3000, bytes: 6 * 1024 * 1024 };

/** Windows are copied and encoded in slices of about this many bytes. */
const MAX_WINDOWS_SLICE_BYTES = 4 * 1024 * 1024;

/** How long to retry a transaction, in milliseconds. The partition's other workspaces wait meanwhile. */
const RETRY_FOR_MS = 15_000;
const EVALUATION_BYTES = 500;
/** Without event ids, types and labels, but with index entries. */
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
    await fanOut.notify(session, { type: 'alert.fired', alerts: fresh, at: clock(), traceOf });
  }

  /** Skips rules without a window: they were deleted, and their evaluations would be left behind. */
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

  /** In slices: together, the copies of the windows may be large. */
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
      // Read first: if anything else is newer than the position, recording results based on it is refused.
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
      // The last piece is stored with the position.
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

/** The decisions in order, in pieces that fit into one transaction each. */
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

/** Approximate size of a stored decision. */
export function sizeOfDecision({ outcome, rule, event, evidence }: Decision): Size {
  if (outcome === 'suppressed') return { documents: 1, bytes: EVALUATION_BYTES };
  const samples = evidence.sampleEventIds.reduce((sum, id) => sum + id.length, 0);
  const types = rule.eventTypes.reduce((sum, type) => sum + type.length, 0);
  const labels = Buffer.byteLength(JSON.stringify(rule.labels));
  const alert = ALERT_BYTES + samples + types + labels;
  // Each channel has a delivery, and a log record that contains the alert again.
  const channels = channelsOf(rule, event.labels).length;
  return { documents: 2 + 2 * channels, bytes: EVALUATION_BYTES + alert + channels * (DELIVERY_BYTES + alert) };
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
    ...(evidence.deviation && { deviation: evidence.deviation }),
    ...(evidence.burn && { burn: evidence.burn }),
    ...(evidence.forecast && { forecast: evidence.forecast }),
    condition: rule.condition,
    cooldownUntil,
    evaluatedAt,
  };
}
