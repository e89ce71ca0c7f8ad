import type { Clock, TenantId } from '@tollkeeper/kernel';
import type { CountableEvent } from '../domain/event.ts';
import type { Decision } from '../domain/evaluator.ts';
import { createPartitionEvaluator, type OpenWorkspace, type SavedWindow } from '../domain/partition.evaluator.ts';
import type { RuleBook } from '../domain/rule-book.ts';
import type { EvaluationRecorder } from '../store/evaluation.recorder.ts';
import type { SetAsideChanges } from '../store/set-aside.store.ts';
import type { HeldWorkspace, WindowHolder, WindowMemory } from './window.memory.ts';

/** From one look whether there is room for a workspace that is set aside to the next. */
const LOOK_AGAIN_MS = 60_000;
/** Workspaces whose windows are read with one query. */
const READ_AT_A_TIME = 100;

/** The windows of a partition: those in memory, and those that are read when an event needs them. */
export interface PartitionWindows {
  /** Whether the next event of the workspace can be evaluated, or passed over, as it is. */
  isReady(tenantId: TenantId): boolean;
  /** Makes the first of these workspaces ready, and the next ones that are not. */
  prepare(tenantIds: Iterable<TenantId>): Promise<void>;
  /** What the event decides; null where its workspace is set aside. It has to be ready. */
  evaluate(event: CountableEvent): Decision[] | null;
  /** How much a save writes, about. */
  readonly changedSize: { windows: number; bytes: number };
  /** Whether there are windows to forget once they are saved. */
  readonly hasLeaving: boolean;
  /** Whether a workspace was set aside or taken back since the last save. */
  readonly hasSetAside: boolean;
  /** What a store lacks since the last save. */
  changed(): { windows: Iterable<SavedWindow>; setAside: SetAsideChanges };
  /** Says that what `changed` answered is in the store. */
  saved(): void;
  /** Takes workspaces that were set aside in again, where there is room by now. */
  takeBack(): Promise<void>;
  /** The windows are not used any more. */
  close(): void;
}

export function createPartitionWindows(deps: {
  partition: number;
  book: RuleBook;
  memory: WindowMemory;
  recorder: Pick<EvaluationRecorder, 'load' | 'sizeOf'>;
  /** As it is stored. */
  setAside: ReadonlyMap<TenantId, number>;
  clock: Clock;
}): PartitionWindows {
  const { partition, book, memory, recorder, clock } = deps;
  const evaluator = createPartitionEvaluator(book);
  const usedAt = new Map<TenantId, number>();
  /** Since when, and when somebody last looked for room; at a takeover there may be room at once. */
  const aside = new Map([...deps.setAside].map(([tenantId, since]) => [tenantId, { since, lookedAt: -Infinity }]));
  const asideChanges = new Map<TenantId, number | null>();
  /** What the last {@link PartitionWindows.changed} answered of them: more may come while it is stored. */
  let recorded: SetAsideChanges = new Map();
  /** Of the windows of workspaces that are set aside and not saved yet. */
  let leavingBytes = 0;

  function forget(tenantId: TenantId): void {
    evaluator.close(tenantId);
    usedAt.delete(tenantId);
  }

  function setAside({ tenantId, bytes, isChanged }: OpenWorkspace): void {
    const since = aside.get(tenantId)?.since ?? clock();
    aside.set(tenantId, { since, lookedAt: clock() });
    asideChanges.set(tenantId, since);
    if (isChanged) leavingBytes += bytes;
    else forget(tenantId);
  }

  const toHeld = (workspace: OpenWorkspace): HeldWorkspace => {
    const { tenantId, bytes, isChanged } = workspace;
    return {
      ...{ tenantId, bytes, isChanged },
      usedAt: usedAt.get(tenantId) ?? 0,
      isSetAside: aside.has(tenantId),
      forget: () => forget(tenantId),
      setAside: () => setAside(workspace),
    };
  };

  const holder: WindowHolder = {
    get bytes() {
      return evaluator.bytes - leavingBytes;
    },
    get setAsideCount() {
      return aside.size;
    },
    held: () => [...evaluator.workspaces.values()].map(toHeld),
  };

  /** Whoever is the largest is set aside on the way, be it one of these. */
  async function read(tenantIds: readonly TenantId[]): Promise<void> {
    for (const tenantId of tenantIds) {
      evaluator.open(tenantId);
      // Nothing is idle while it is read, however long that takes.
      usedAt.set(tenantId, Infinity);
    }
    for await (const window of recorder.load(partition, tenantIds)) {
      if (evaluator.workspaces.has(window.tenantId)) evaluator.add(window);
      memory.makeRoom();
    }
    for (const tenantId of tenantIds) if (usedAt.has(tenantId)) usedAt.set(tenantId, clock());
  }

  const isReady = (tenantId: TenantId): boolean => aside.has(tenantId) || evaluator.workspaces.has(tenantId);

  memory.join(holder);
  return {
    isReady,
    async prepare(tenantIds) {
      const missing = [...new Set(tenantIds)].filter((tenantId) => !isReady(tenantId)).slice(0, READ_AT_A_TIME);
      await memory.inTurn(() => read(missing));
    },
    evaluate(event) {
      const { tenantId } = event;
      if (aside.has(tenantId)) return null;
      usedAt.set(tenantId, clock());
      const bytesBefore = evaluator.bytes;
      const decisions = evaluator.evaluate(event);
      if (evaluator.bytes > bytesBefore) memory.makeRoom();
      return decisions;
    },
    get changedSize() {
      return evaluator.changedSize;
    },
    get hasLeaving() {
      return leavingBytes > 0;
    },
    get hasSetAside() {
      return asideChanges.size > 0;
    },
    changed() {
      recorded = new Map(asideChanges);
      return { windows: evaluator.changed(), setAside: recorded };
    },
    saved() {
      evaluator.saved();
      for (const [tenantId, since] of recorded) {
        if (asideChanges.get(tenantId) === since) asideChanges.delete(tenantId);
      }
      for (const tenantId of aside.keys()) if (evaluator.workspaces.has(tenantId)) forget(tenantId);
      leavingBytes = 0;
    },
    async takeBack() {
      for (const [tenantId, place] of aside) {
        if (evaluator.workspaces.has(tenantId) || clock() - place.lookedAt < LOOK_AGAIN_MS) continue;
        place.lookedAt = clock();
        await memory.inTurn(async () => {
          if (!memory.hasRoomFor(await recorder.sizeOf(partition, tenantId))) return;
          aside.delete(tenantId);
          await read([tenantId]);
          const again = aside.get(tenantId);
          // Its size was not known that well: nothing was evaluated meanwhile.
          if (again !== undefined) again.since = place.since;
          asideChanges.set(tenantId, again?.since ?? null);
        });
      }
    },
    close: () => memory.leave(holder),
  };
}
