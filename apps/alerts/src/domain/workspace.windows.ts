import type { TenantId } from '@tollkeeper/kernel';
import type { RuleWindow } from './evaluator.ts';

/** The windows of one workspace that are in memory. */
export interface OpenWorkspace {
  readonly tenantId: TenantId;
  /** Memory that its windows take, about. */
  readonly bytes: number;
  /** Whether a store lacks some of it. */
  readonly isChanged: boolean;
}

/** What the windows of all workspaces of a partition take together. */
export interface WindowTotals {
  /** Of memory, about. */
  bytes: number;
  /** What a store has to write of those that changed, about. */
  readonly changedSize: { windows: number; bytes: number };
}

interface KeptWindow {
  window: RuleWindow;
  /** What a store has to write of it, about, if it changed since it was saved, else 0. */
  changedBytes: number;
  /** What it takes of memory, about. */
  heldBytes: number;
}

/** What a store takes for a window, about, beside its condition. */
const WINDOW_BYTES = 1000;
/** Memory that a window takes, about, beside its condition: the objects, the ids of samples, the history. */
export const HELD_BYTES_PER_WINDOW = 2000;
/** Memory that a workspace takes, about, beside its windows. */
const WORKSPACE_MEMORY_BYTES = 500;

/** Counts what the windows of a workspace take, of memory and of a save, and adds it to the totals of its partition. */
export class WorkspaceWindows implements OpenWorkspace {
  readonly tenantId: TenantId;
  /** By rule id. */
  readonly windows = new Map<string, KeptWindow>();
  readonly #totals: WindowTotals;
  #bytes = 0;
  #changed = 0;

  constructor(tenantId: TenantId, totals: WindowTotals) {
    this.tenantId = tenantId;
    this.#totals = totals;
    this.#take(WORKSPACE_MEMORY_BYTES);
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isChanged(): boolean {
    return this.#changed > 0;
  }

  keep(window: RuleWindow): KeptWindow {
    const kept = { window, changedBytes: 0, heldBytes: 0 };
    this.windows.set(window.ruleId, kept);
    this.#noteMemory(kept);
    return kept;
  }

  replace(kept: KeptWindow, window: RuleWindow): void {
    kept.window = window;
    this.#noteMemory(kept);
  }

  drop(kept: KeptWindow): void {
    this.windows.delete(kept.window.ruleId);
    this.#take(-kept.heldBytes);
    this.#noteSaved(kept);
  }

  /** Notes that the window changed, and how much a store has to write of it by now. */
  noteChange(kept: KeptWindow): void {
    const unsaved = WINDOW_BYTES + kept.window.condition.unsavedBytes;
    if (kept.changedBytes === 0) {
      this.#changed += 1;
      this.#totals.changedSize.windows += 1;
    }
    this.#totals.changedSize.bytes += unsaved - kept.changedBytes;
    kept.changedBytes = unsaved;
    this.#noteMemory(kept);
  }

  /** Those that changed since `saved` was called. */
  *changed(): Generator<KeptWindow> {
    if (!this.isChanged) return;
    for (const kept of this.windows.values()) if (kept.changedBytes > 0) yield kept;
  }

  saved(): void {
    for (const kept of this.changed()) {
      kept.window.condition.saved();
      this.#noteSaved(kept);
      this.#noteMemory(kept);
    }
  }

  /** The windows are in memory no longer. */
  close(): void {
    if (this.isChanged) throw new Error(`Windows of ${this.tenantId} are not saved`);
    this.#take(-this.#bytes);
  }

  #noteSaved(kept: KeptWindow): void {
    if (kept.changedBytes === 0) return;
    this.#changed -= 1;
    this.#totals.changedSize.windows -= 1;
    this.#totals.changedSize.bytes -= kept.changedBytes;
    kept.changedBytes = 0;
  }

  #noteMemory(kept: KeptWindow): void {
    const held = HELD_BYTES_PER_WINDOW + kept.window.condition.heldBytes;
    if (held === kept.heldBytes) return;
    this.#take(held - kept.heldBytes);
    kept.heldBytes = held;
  }

  #take(bytes: number): void {
    this.#bytes += bytes;
    this.#totals.bytes += bytes;
  }
}
