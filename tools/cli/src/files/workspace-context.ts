import type { Api } from '@tollkeeper/client';
import { apiOf } from '../connection.ts';
import { allPages, type ReadSecret, type WorkspaceContext } from '../kinds/kind.ts';
import { KINDS } from '../kinds/kinds.ts';
import type { Session } from '../session.file.ts';
import type { WorkspaceDocument } from './document.ts';
import { entriesOf, keyOf } from './plan.ts';

interface Given {
  session: Session;
  account: Api.Account;
  slug: string;
  /** None for an export. */
  document?: WorkspaceDocument;
  readSecret: ReadSecret;
}

export function createWorkspaceContext({ session, account, slug, document, readSecret }: Given): WorkspaceContext {
  const api = apiOf(session, slug);
  let budgets: Promise<Api.Budget[]> | undefined;
  return {
    ...{ slug, account, api, readSecret },
    id: account.workspaces.find((workspace) => workspace.slug === slug)?.id ?? null,
    personal: apiOf(session),
    ids: new Map(),
    declared: new Set(document === undefined ? [] : KINDS.flatMap((kind) => declaredBy(kind, document))),
    budgets: () =>
      (budgets ??= allPages((cursor) =>
        api.call('GET /api/v1/budgets', { query: { limit: 100, ...(cursor !== undefined && { cursor }) } }),
      )),
  };
}

function declaredBy(kind: (typeof KINDS)[number], document: WorkspaceDocument): string[] {
  return (entriesOf(document, kind) ?? []).map((entry) => `${kind.section}/${keyOf(kind, entry)}`);
}
