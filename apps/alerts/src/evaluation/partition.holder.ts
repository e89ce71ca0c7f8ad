import type { TenantId } from '@tollkeeper/kernel';
import type { PartitionEvaluator } from '../domain/partition.evaluator.ts';
import type { OpenWorkspace } from '../domain/workspace.windows.ts';
import type { SetAsideWorkspaces } from './set-aside.workspaces.ts';
import type { HeldWorkspace, WindowHolder } from './window.memory.ts';

/** The memory of a partition, and how to free it when there is too little. */
export interface PartitionHolder extends WindowHolder {
  /** Whether windows leave memory with the next save. */
  readonly hasLeaving: boolean;
  /** Records the time of the last event of an open workspace. */
  use(tenantId: TenantId, at: number): void;
  /** Forgets the windows of workspaces that are set aside; they must be saved. */
  forgetLeaving(): void;
}

export function createPartitionHolder(evaluator: PartitionEvaluator, aside: SetAsideWorkspaces): PartitionHolder {
  const usedAt = new Map<TenantId, number>();
  /** Memory of the unsaved windows of workspaces that are set aside. */
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
