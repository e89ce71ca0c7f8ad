import type { Clock, TenantId } from '@tollkeeper/kernel';
import type { BudgetTermsBook } from '../domain/budget.terms.ts';
import type { CountableEvent } from '../domain/event.ts';
import type { Decision } from '../domain/evaluator.ts';
import { createPartitionEvaluator, type SavedWindow } from '../domain/partition.evaluator.ts';
import type { RuleBook } from '../domain/rule-book.ts';
import type { EvaluationRecorder } from '../store/evaluation.recorder.ts';
import type { SetAsideChanges } from '../store/set-aside.store.ts';
import { createPartitionHolder } from './partition.holder.ts';
import { SetAsideWorkspaces } from './set-aside.workspaces.ts';
import type { WindowMemory } from './window.memory.ts';

/** Number of workspaces whose windows are read with one query. */
const READ_AT_A_TIME = 100;

/** The windows of a partition: some are in memory, the others are read when an event needs them. */
export interface PartitionWindows {
  /** Whether the next event of the workspace can be evaluated or skipped without reading windows. */
  isReady(tenantId: TenantId): boolean;
  /** Makes the first of these workspaces ready, and the next ones that are not. */
  prepare(tenantIds: Iterable<TenantId>): Promise<void>;
  /** The decisions about the event, whose workspace must be ready; null if the workspace is set aside. */
  evaluate(event: CountableEvent): Decision[] | null;
  /** Approximate amount that a save writes. */
  readonly changedSize: { windows: number; bytes: number };
  /** Whether windows leave memory with the next save. */
  readonly hasLeaving: boolean;
  /** Whether a workspace was set aside or resumed since the last save. */
  readonly hasSetAside: boolean;
  /** The changes since the last save. */
  changed(): { windows: Iterable<SavedWindow>; setAside: SetAsideChanges };
  /** Call when the result of `changed` is stored. */
  saved(): void;
  /** Resumes workspaces that were set aside and now fit into memory. */
  takeBack(): Promise<void>;
  /** Frees the memory of the windows. */
  close(): void;
}

export function createPartitionWindows(deps: {
  partition: number;
  book: RuleBook;
  budgets: BudgetTermsBook;
  memory: WindowMemory;
  recorder: Pick<EvaluationRecorder, 'load' | 'sizeOf'>;
  /** The stored state. */
  setAside: ReadonlyMap<TenantId, number>;
  clock: Clock;
}): PartitionWindows {
  const { partition, book, budgets, memory, recorder, clock } = deps;
  const evaluator = createPartitionEvaluator(book, budgets);
  const aside = new SetAsideWorkspaces(deps.setAside, clock);
  const holder = createPartitionHolder(evaluator, aside);

  /** Reads windows. If memory runs short, the largest workspace is set aside, even if it is one of these. */
  async function read(tenantIds: readonly TenantId[]): Promise<void> {
    for (const tenantId of tenantIds) {
      evaluator.open(tenantId);
      // Never idle while it is read, however long that takes.
      holder.use(tenantId, Infinity);
    }
    for await (const window of recorder.load(partition, tenantIds)) {
      if (evaluator.workspaces.has(window.tenantId)) evaluator.add(window);
      memory.makeRoom();
    }
    for (const tenantId of tenantIds) if (evaluator.workspaces.has(tenantId)) holder.use(tenantId, clock());
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
      holder.use(tenantId, clock());
      const bytesBefore = evaluator.bytes;
      const decisions = evaluator.evaluate(event);
      if (evaluator.bytes > bytesBefore) memory.makeRoom();
      return decisions;
    },
    get changedSize() {
      return evaluator.changedSize;
    },
    get hasLeaving() {
      return holder.hasLeaving;
    },
    get hasSetAside() {
      return aside.isChanged;
    },
    changed() {
      return { windows: evaluator.changed(), setAside: aside.changed() };
    },
    saved() {
      evaluator.saved();
      aside.saved();
      holder.forgetLeaving();
    },
    async takeBack() {
      for (const tenantId of aside.tenantIds()) {
        if (evaluator.workspaces.has(tenantId) || !aside.isDue(tenantId)) continue;
        await memory.inTurn(async () => {
          if (!memory.hasRoomFor(await recorder.sizeOf(partition, tenantId))) return;
          await aside.takeBack(tenantId, () => read([tenantId]));
        });
      }
    },
    close: () => memory.leave(holder),
  };
}
