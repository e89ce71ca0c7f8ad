import { issueMessage, toErrorDetails } from '@tollkeeper/contracts';
import { AppError } from '@tollkeeper/kernel';
import { z } from 'zod';

type Json = Record<string, unknown>;

/**
 * `target` changed by a JSON Merge Patch (RFC 7396): null removes a member, objects are merged, and any other value
 * replaces the old one. Neither argument is changed.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Json = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = mergePatch(merged[name], value);
  }
  return merged;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Both content types of a JSON Merge Patch: RFC 7396's own, and plain JSON, which most clients send. */
export function mergePatchBodies<S extends z.ZodType>(schema: S): Record<string, S> {
  return { 'application/json': schema, 'application/merge-patch+json': schema };
}

type PatchShape<S extends z.core.$ZodShape> = { [K in keyof S]: z.ZodOptional<z.ZodNullable<S[K]>> };

/** The shape of a merge patch of an object: every field may be left out, or null to remove it. */
export function patchShape<S extends z.core.$ZodShape>(shape: S): PatchShape<S> {
  const fields = Object.entries(shape).map(([name, field]) => [name, z.optional(z.nullable(field))]);
  return Object.fromEntries(fields) as PatchShape<S>;
}

/** Validates a patched record with `schema`. Throws `invalid_request` with every problem. */
export function parseMerged<S extends z.ZodType>(schema: S, merged: unknown): z.output<S> {
  const result = schema.safeParse(merged, { error: issueMessage });
  if (result.success) return result.data;
  const details = toErrorDetails(result.error.issues);
  const [first] = details;
  const what = details.length === 1 && first ? `${first.path} ${first.message}.` : 'see details.';
  throw new AppError('invalid_request', `The record would be invalid after this patch: ${what}`, { details });
}
