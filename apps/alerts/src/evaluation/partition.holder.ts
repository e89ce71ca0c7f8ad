import type { TenantId } from '@tollkeeper/kernel';
import type { PartitionEvaluator } from '../domain/partition.evaluator.ts';
import type { OpenWorkspace } from '../domain/workspace.windows.ts';
import type { SetAsideWorkspaces } from './set-aside.workspaces.ts';
import type { HeldWorkspace, WindowHolder } from './window.memory.ts';

/** What a partition has in memory, and what becomes of it where that does not suffice. */
export interface PartitionHolder extends WindowHolder {
  /** Whether there are windows to forget once they are saved. */
  readonly hasLeaving: boolean;
  /** Notes when the workspace, which is open, had its last event. */
  use(tenantId: TenantId, at: number): void;
  /** Forgets the windows of workspaces that are set aside: they are saved. */
  forgetLeaving(): void;
}

export function createPartitionHolder(evaluator: PartitionEvaluator, aside: SetAsideWorkspaces): PartitionHolder {
  const usedAt = new Map<TenantId, number>();
  /** Of the windows of workspaces that are set aside and not saved yet. */
  let leavingBytes = 0;

  function forget(tenantId: TenantId): void {
    evaluator.close(tenantId);
    usedAt.delete(tenantId);
  }

  function setAside({ tenantId, bytes, isChanged }: OpenWorkspace): void {
    aside.add(tenantId);
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

  return {
    get bytes() {
      return evaluator.bytes - leavingBytes;
    },
    get setAsideCount() {
      return aside.size;
    },
    get hasLeaving() {
      return leavingBytes > 0;
    },
    held: () => [...evaluator.workspaces.values()].map(toHeld),
    use: (tenantId, at) => void usedAt.set(tenantId, at),
    forgetLeaving() {
      for (const tenantId of aside.tenantIds()) if (evaluator.workspaces.has(tenantId)) forget(tenantId);
      leavingBytes = 0;
    },
  };
}
