import type { Api, ManagementApi } from '@tollkeeper/client';
import { EXIT, Failure } from '../failure.ts';
import type { SecretReference } from '../files/document.ts';

/** Reads secrets of a document. Undefined if it is not there and the command does without. */
export type ReadSecret = (reference: SecretReference, field: string) => Promise<string | undefined>;

/** A workspace while its document is compared and applied. */
export interface WorkspaceContext {
  readonly slug: string;
  /** Null until the workspace exists. */
  id: string | null;
  readonly account: Api.Account;
  /** For what belongs to the caller, such as the list of workspaces. */
  readonly personal: ManagementApi;
  readonly api: ManagementApi;
  readonly readSecret: ReadSecret;
  /** Ids of what is there, by kind and key, for fields that name another resource. */
  readonly ids: Map<string, string>;
  /** What the document has, by kind and key. */
  readonly declared: ReadonlySet<string>;
  /** All budgets, read once: the daily ones are also those of the workspace, the agents and the plans. */
  budgets(): Promise<readonly Api.Budget[]>;
}

/** A resource as it is, in the fields of its entry in a file. */
export interface Live {
  key: string;
  id: string;
  value: object;
  /** Whether pruning leaves it alone. */
  isKept?: boolean;
  /** Why no file changes it. */
  fixed?: string;
}

/**
 * A kind of resource that files describe. All that is particular to a kind is here, so a new kind is a section of the
 * document and a row of `KINDS`.
 */
export interface Kind<Entry extends object> {
  readonly section: string;
  /** The field that identifies an entry in its workspace. */
  readonly keyField: string;
  /** What the workspace has; `wanted` are the entries of the file, or null for an export. */
  read(workspace: WorkspaceContext, wanted: readonly Entry[] | null): Promise<Live[]>;
  /** The entry with the defaults that depend on other fields, in the form that is compared. */
  desired(workspace: WorkspaceContext, entry: Entry): Promise<object> | object;
  /** The entry for a file, from what is there. */
  exported(live: Live): object;
  /** Resolves to the id. */
  create(workspace: WorkspaceContext, entry: Entry): Promise<string>;
  update(workspace: WorkspaceContext, live: Live, entry: Entry): Promise<unknown>;
  /** Absent if nothing of the kind can be removed. */
  remove?(workspace: WorkspaceContext, live: Live): Promise<unknown>;
  /** Entries that others of the kind refer to come first. */
  order?(entry: object): number;
  /** Whether a field is kept out of every output. Only kinds with secrets have it. */
  isHidden?(path: string): boolean;
}

/** Stands for a value that cannot be compared. */
export const UNKNOWN = Symbol('unknown');

const MAX_PAGES = 200;

/** Every item of a list that comes in pages. */
export async function allPages<T>(
  readPage: (cursor: string | undefined) => Promise<{ items: T[]; next_cursor: string | null }>,
): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await readPage(cursor);
    items.push(...answer.items);
    if (answer.next_cursor === null) return items;
    cursor = answer.next_cursor;
  }
  throw new Failure(`The list has more than ${MAX_PAGES} pages. Leave its section out of the file.`);
}

/** The id of the workspace, which exists by now. */
export function idOf({ id, slug }: WorkspaceContext): string {
  if (id === null) throw new Failure(`The workspace ${slug} does not exist.`);
  return id;
}

/** Throws for the name of a resource that is neither there nor in the document. */
export function requireKnown(workspace: WorkspaceContext, section: string, key: string, field: string): void {
  const name = `${section}/${key}`;
  if (workspace.ids.has(name) || workspace.declared.has(name)) return;
  const message = `${field}: ${workspace.slug} has no "${key}" in ${section}. Add it there, or correct the name.`;
  throw new Failure(message, EXIT.usage);
}

/** The id of a resource that {@link requireKnown} knows, once it is created. */
export function idByKey({ ids }: WorkspaceContext, section: string, key: string): string {
  return ids.get(`${section}/${key}`) ?? key;
}

/** The JSON Merge Patch (RFC 7396) that makes the one of the other. */
export function mergePatch(from: object, to: object): Record<string, unknown> {
  const before = from as Record<string, unknown>;
  const after = to as Record<string, unknown>;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const patch: Record<string, unknown> = {};
  for (const name of names) {
    const old = before[name];
    const next = after[name];
    if (JSON.stringify(old) === JSON.stringify(next)) continue;
    patch[name] = isObject(old) && isObject(next) ? mergePatch(old, next) : (next ?? null);
  }
  return patch;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
