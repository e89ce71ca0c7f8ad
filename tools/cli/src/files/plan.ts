import { EXIT, Failure } from '../failure.ts';
import { KINDS } from '../kinds/kinds.ts';
import type { Kind, Live, WorkspaceContext } from '../kinds/kind.ts';
import { type FieldChange, fieldsThatDiffer } from './diff.ts';
import type { WorkspaceDocument } from './document.ts';

export interface Change {
  action: 'create' | 'update' | 'remove';
  section: string;
  key: string;
  /** The fields of an update. Values that are kept out of every output are null. */
  fields: (FieldChange & { hidden: boolean })[];
  run(): Promise<unknown>;
}

export interface Plan {
  changes: Change[];
  /** What is there and not in the file, while nothing is pruned. */
  others: number;
}

export interface PlanOptions {
  prune: boolean;
  /** Writes channels again, because their secrets cannot be compared. */
  sendSecrets: boolean;
}

interface SectionPlan {
  upserts: Change[];
  removals: Change[];
  others: number;
}

/** What makes the workspace as the document says. Reads, and changes nothing. */
export async function planOf(
  workspace: WorkspaceContext,
  document: WorkspaceDocument,
  options: PlanOptions,
): Promise<Plan> {
  const plans: SectionPlan[] = [];
  for (const kind of KINDS) {
    const entries = entriesOf(document, kind);
    if (entries !== undefined) plans.push(await planSection(kind, workspace, entries, options));
  }
  return {
    // What names others is removed before them.
    changes: [...plans.flatMap(({ upserts }) => upserts), ...plans.toReversed().flatMap(({ removals }) => removals)],
    others: plans.reduce((sum, { others }) => sum + others, 0),
  };
}

/** The entries of a kind; undefined if the document does not say. */
export function entriesOf(document: WorkspaceDocument, { section }: Kind<object>): object[] | undefined {
  const entries = (document as Record<string, unknown>)[section] as object | object[] | undefined;
  return entries === undefined || Array.isArray(entries) ? entries : [entries];
}

export function keyOf({ keyField }: Kind<object>, entry: object): string {
  return String((entry as Record<string, unknown>)[keyField]);
}

async function planSection(
  kind: Kind<object>,
  workspace: WorkspaceContext,
  entries: readonly object[],
  { prune, sendSecrets }: PlanOptions,
): Promise<SectionPlan> {
  const { section } = kind;
  const all = await readKind(kind, workspace, entries);
  const byKey = new Map(all.map((live) => [live.key, live]));
  const wanted = new Set(entries.map((entry) => keyOf(kind, entry)));
  requireUnique(
    all.filter(({ key }) => wanted.has(key)),
    section,
    workspace.slug,
  );

  const upserts: Change[] = [];
  for (const entry of inOrder(kind, entries)) {
    const key = keyOf(kind, entry);
    const desired = await kind.desired(workspace, entry);
    const live = byKey.get(key);
    if (live === undefined) {
      const run = async () => void workspace.ids.set(`${section}/${key}`, await kind.create(workspace, entry));
      upserts.push({ action: 'create', section, key, fields: [], run });
      continue;
    }
    const differing = fieldsThatDiffer(desired, live.value);
    const fields = differing.map((field) => hide(field, kind));
    if (fields.length === 0 && !(sendSecrets && kind.isHidden !== undefined)) continue;
    if (live.fixed !== undefined) {
      throw new Failure(`${section} "${key}": ${fields[0]?.path} cannot be changed: ${live.fixed}.`, EXIT.usage);
    }
    upserts.push({ action: 'update', section, key, fields, run: () => kind.update(workspace, live, entry) });
  }

  const extra = all.filter(({ key, isKept = false }) => !wanted.has(key) && !isKept);
  const { remove } = kind;
  if (!prune || remove === undefined) return { upserts, removals: [], others: extra.length };
  const removals = inOrder(kind, extra, (live) => live.value)
    .toReversed()
    .map((live): Change => {
      return { action: 'remove', section, key: live.key, fields: [], run: () => remove(workspace, live) };
    });
  return { upserts, removals, others: 0 };
}

/** What there is of a kind. A workspace that does not exist has nothing. */
export async function readKind(
  kind: Kind<object>,
  workspace: WorkspaceContext,
  wanted: readonly object[] | null,
): Promise<Live[]> {
  if (workspace.id === null) return [];
  const all = await kind.read(workspace, wanted);
  for (const { key, id } of all) workspace.ids.set(`${kind.section}/${key}`, id);
  return all;
}

/** Throws for two resources with one key, since a file cannot say which of them it means. */
export function requireUnique(all: readonly Live[], section: string, slug: string): void {
  const seen = new Set<string>();
  for (const { key } of all) {
    if (seen.has(key))
      throw new Failure(`${slug} has several ${section} named "${key}". Rename or delete all but one.`);
    seen.add(key);
  }
}

function inOrder<T extends object>(
  kind: Kind<object>,
  items: readonly T[],
  entryOf: (item: T) => object = (item) => item,
): T[] {
  const { order } = kind;
  if (order === undefined) return [...items];
  return items.toSorted((a, b) => order(entryOf(a)) - order(entryOf(b)));
}

function hide(field: FieldChange, kind: Kind<object>): FieldChange & { hidden: boolean } {
  return kind.isHidden?.(field.path) === true
    ? { path: field.path, from: null, to: null, hidden: true }
    : { ...field, hidden: false };
}
