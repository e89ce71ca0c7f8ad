import type { ApiClient } from './api.client.ts';
import { readEverything } from './api.reads.ts';
import type { Target } from './target.ts';

/** Fields that change while nothing happens, in answers of any path. */
const CHANGING = new Set([
  // The time that is left of a reservation or a lease.
  'expires_in_ms',
  // Of the loops of this process, not of anything that is stored.
  'LastDispatchTime',
  'LastEvaluationTime',
  // The last hour for reads without a time; for the others only what was asked for.
  'window',
  // What the budget will have spent at the pace so far: it falls with each second without spend.
  'pace_end_micros',
]);

/** The answers to all reads of a workspace, by path, as long as nothing happens in it. */
export async function pictureOf(
  target: Target,
  owner: ApiClient,
  { slug, span }: { slug: string; span: string },
): Promise<Record<string, unknown>> {
  const picture: Record<string, unknown> = {};
  for await (const { path, body, text } of readEverything(target, owner, slug, span)) {
    // Sessions and workspaces of the person change with each use.
    if (!path.startsWith('/w/')) continue;
    const { budgets } = (body ?? {}) as { budgets?: unknown };
    if (budgets === null) throw new Error(`GET ${path} has no budgets: the enforcer did not answer within a second`);
    picture[path] = body === undefined ? text : withoutChanging(body);
  }
  return picture;
}

function withoutChanging(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutChanging);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !CHANGING.has(name));
  return Object.fromEntries(kept.map(([name, each]) => [name, withoutChanging(each)]));
}
