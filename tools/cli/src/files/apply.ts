import type { Api } from '@tollkeeper/client';
import { apiOf } from '../connection.ts';
import { type FailureReport, reportOf } from '../failure.ts';
import type { WorkspaceContext } from '../kinds/kind.ts';
import type { Session } from '../session.file.ts';
import { type Plan, type PlanOptions, planOf } from './plan.ts';
import type { SourcedDocument } from './read-documents.ts';
import { createSecretReader } from './secrets.ts';
import { createWorkspaceContext } from './workspace-context.ts';

/** Workspaces that are read or changed at the same time. */
const AT_ONCE = 4;

export interface WorkspacePlan extends Plan {
  workspace: WorkspaceContext;
}

interface PlanAllOptions extends PlanOptions {
  /** Whether every secret must be there; otherwise `onMissing` gets a sentence about each that is not. */
  needsSecrets: boolean;
  onMissing: (text: string) => void;
}

/** Plans every document before anything changes. Rejects if one cannot be planned. */
export async function planAll(
  session: Session,
  documents: readonly SourcedDocument[],
  options: PlanAllOptions,
): Promise<WorkspacePlan[]> {
  const account: Api.Account = await apiOf(session).call('GET /api/v1/auth/me');
  return inParallel(documents, async ({ document, folder }) => {
    const readSecret = createSecretReader(folder, options.needsSecrets, options.onMissing);
    const { slug } = document.workspace;
    const workspace = createWorkspaceContext({ session, account, slug, document, readSecret });
    return { workspace, ...(await planOf(workspace, document, options)) };
  });
}

export interface Applied {
  slug: string;
  applied: number;
  /** What ended the changes of this workspace, after those that are applied. */
  failure: (FailureReport & { change: string }) | null;
}

/** Makes the changes, those of a workspace in order. A failure in one workspace does not stop the others. */
export function applyAll(plans: readonly WorkspacePlan[]): Promise<Applied[]> {
  return inParallel(plans, async ({ workspace: { slug }, changes }) => {
    let applied = 0;
    for (const { section, key, action, run } of changes) {
      try {
        await run();
      } catch (error) {
        return { slug, applied, failure: { change: `${action} ${section} "${key}"`, ...reportOf(error) } };
      }
      applied += 1;
    }
    return { slug, applied, failure: null };
  });
}

/** The results in the order of the items. After a failure, no further item is begun. */
export async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  let hasFailed = false;
  async function takeTurns(): Promise<void> {
    for (const [index, item] of waiting) {
      results[index] = await work(item);
      if (hasFailed) return;
    }
  }
  const turns = Array.from({ length: AT_ONCE }, () =>
    takeTurns().catch((error: unknown) => {
      hasFailed = true;
      throw error;
    }),
  );
  await Promise.all(turns);
  return results;
}
