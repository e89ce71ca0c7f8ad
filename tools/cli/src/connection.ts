import { hostname } from 'node:os';
import { type Api, createManagementApi, type ManagementApi, type ManagementApiOptions } from '@tollkeeper/client';
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
  const options = { url, session, timeoutMs: TIMEOUT_MS, ...(workspace !== undefined && { workspace }) };
  const api = createManagementApi({ ...options, fetch: fetchAsProgram });
  const call: ManagementApi['call'] = async (operation, ...input) => {
    try {
      return await api.call(operation, ...input);
    } catch (error) {
      // The client refuses to send an id such as `.`, which would change the path.
      const [, name] = /^path\.(\w+)/.exec(error instanceof TypeError ? error.message : '') ?? [];
      if (name === undefined) throw error;
      throw new Failure(`${name} must be an id, and neither empty nor "." nor "..".`, EXIT.usage);
    }
  };
  return { call };
}

/** The API before there is a session. */
export function createLoginApi(options: Pick<ManagementApiOptions, 'url' | 'fetch'>): ManagementApi {
  try {
    return createManagementApi({ fetch: fetchAsProgram, ...options });
  } catch (error) {
    if (error instanceof TypeError) throw new Failure(`--${error.message}.`, EXIT.usage);
    throw error;
  }
}

/** Names this program and its computer to those who confirm a login, list their sessions or read the audit log. */
export const fetchAsProgram: typeof fetch = (input, init) => {
  const computer = hostname().replace(/[^\x21-\x7e]/g, '?');
  const headers = new Headers(init?.headers);
  headers.set('user-agent', `tollkeeper/${__VERSION__} (${process.platform}; ${computer})`);
  return fetch(input, { ...init, headers });
};

export interface WorkspaceConnection {
  api: ManagementApi;
  session: Session;
  slug: string;
}

/** The API of the workspace that the command is for. */
export async function connect(globals: Globals): Promise<WorkspaceConnection> {
  const session = await requireSession();
  const slug = globals.workspace ?? session.workspace;
  if (slug === null) {
    throw new Failure('No workspace is chosen. Add `--workspace <slug>`, or run `tollkeeper use <slug>`.', EXIT.usage);
  }
  return { api: apiOf(session, slug), session, slug };
}

/** The workspace of this slug, with its id and the role of the caller. */
export function findWorkspace(account: Api.Account, slug: string): Api.Workspace {
  const found = account.workspaces.find((workspace) => workspace.slug === slug);
  if (found !== undefined) return found;
  const known = account.workspaces.map((workspace) => workspace.slug).join(', ') || 'none';
  throw new Failure(`--workspace: you are no member of ${slug}. Your workspaces: ${known}.`);
}
