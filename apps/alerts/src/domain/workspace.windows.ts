import type { TenantId } from '@tollkeeper/kernel';
import type { RuleWindow } from './evaluator.ts';
import { SharedSums } from './shared-sums.ts';

/** The in-memory windows of one workspace. */
export interface OpenWorkspace {
  readonly tenantId: TenantId;
  /** Approximate memory of its windows in bytes. */
  readonly bytes: number;
  /** Whether there are unsaved changes. */
  readonly isChanged: boolean;
}

/** Totals over all workspaces of a partition. */
export interface WindowTotals {
  /** Approximate memory in bytes. */
  bytes: number;
  /** Approximate amount that a save of the changed windows writes. */
  readonly changedSize: { windows: number; bytes: number };
}

interface KeptWindow {
  window: RuleWindow;
  /** Approximate number of bytes to write if the window has unsaved changes, else 0. */
  changedBytes: number;
  /** Approximate memory in bytes. */
  heldBytes: number;
}

/** Approximate stored size of a window without its condition. */
const WINDOW_BYTES = 1000;
/** Approximate memory of a window without its condition: the objects, the sample ids, the history. */
export const HELD_BYTES_PER_WINDOW = 2000;
/** Approximate memory of a workspace without its windows. */
const WORKSPACE_MEMORY_BYTES = 500;

/** Measures the memory and save size of a workspace's windows, and adds them to the totals of its partition. */
export class WorkspaceWindows implements OpenWorkspace {
  readonly tenantId: TenantId;
  /** By rule id. */
  readonly windows = new Map<string, KeptWindow>();
  readonly sums = new SharedSums();
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
    kept.window.condition.close();
    kept.window = window;
    this.#noteMemory(kept);
  }

  drop(kept: KeptWindow): void {
    kept.window.condition.close();
    this.windows.delete(kept.window.ruleId);
    this.#take(-kept.heldBytes);
    this.#noteSaved(kept);
  }

  /** Notes that the window changed, and how much of it must now be written. */
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

  /** Measures all windows again, after some have left: others may lead the sums that they shared. */
  measure(): void {
    for (const kept of this.windows.values()) {
      if (kept.changedBytes > 0) this.noteChange(kept);
      else this.#noteMemory(kept);
    }
  }

  /** The windows that changed since the last `saved`. */
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

  /** Removes the windows from the totals, as they leave memory. */
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
