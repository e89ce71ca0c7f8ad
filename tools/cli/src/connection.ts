import { type Api, createManagementApi, type ManagementApi } from '@tollkeeper/client';
import { EXIT, Failure } from './failure.ts';
import { requireSession, type Session } from './session.file.ts';

/** The options of every command. */
export interface Globals {
  workspace?: string;
  output: 'table' | 'json';
  zone: string;
  /** Whether `--zone` was given: then ranges such as `today` are those of this zone. */
  zoneGiven: boolean;
}

/** A test notification waits 15 s for its destination. */
const TIMEOUT_MS = 20_000;

/** The API for what belongs to a person, and to one workspace if its slug is given. */
export function apiOf({ url, session }: Pick<Session, 'url' | 'session'>, workspace?: string): ManagementApi {
  return createManagementApi({ url, session, timeoutMs: TIMEOUT_MS, ...(workspace !== undefined && { workspace }) });
}

export interface WorkspaceConnection {
  api: ManagementApi;
  slug: string;
}

/** The API of the workspace that the command is for. */
export async function connect(globals: Globals): Promise<WorkspaceConnection> {
  const session = await requireSession();
  const slug = globals.workspace ?? session.workspace;
  if (slug === null) {
    throw new Failure('No workspace is chosen. Add `--workspace <slug>`, or run `tollkeeper use <slug>`.', EXIT.usage);
  }
  return { api: apiOf(session, slug), slug };
}

/** The workspace of this slug, with its id and the role of the caller. */
export function findWorkspace(account: Api.Account, slug: string): Api.Workspace {
  const found = account.workspaces.find((workspace) => workspace.slug === slug);
  if (found !== undefined) return found;
  const known = account.workspaces.map((workspace) => workspace.slug).join(', ') || 'none';
  throw new Failure(`--workspace: you are no member of ${slug}. Your workspaces: ${known}.`);
}
