import { identifier, issueMessage, toErrorDetails } from '@tollkeeper/contracts';
import { AppError } from '@tollkeeper/kernel';
import { z } from 'zod';

export const ALERTS_PATH = '/api/v1/alerts';

/** Both names of a JSON Merge Patch: RFC 7396's own, and plain JSON, which is what most clients send. */
export function mergePatchBodies<S extends z.ZodType>(schema: S): Record<string, S> {
  return { 'application/json': schema, 'application/merge-patch+json': schema };
}

type PatchShape<S extends z.core.$ZodShape> = { [K in keyof S]: z.ZodOptional<z.ZodNullable<S[K]>> };

/** The shape of a merge patch of an object: every field may be left out, or null to remove it. */
export function patchShape<S extends z.core.$ZodShape>(shape: S): PatchShape<S> {
  const fields = Object.entries(shape).map(([name, field]) => [name, z.optional(z.nullable(field))]);
  return Object.fromEntries(fields) as PatchShape<S>;
}

/** What `schema` makes of a record that a patch has made; throws `invalid_request` with every problem. */
export function parseMerged<S extends z.ZodType>(schema: S, merged: unknown): z.output<S> {
  const result = schema.safeParse(merged, { error: issueMessage });
  if (result.success) return result.data;
  const details = toErrorDetails(result.error.issues);
  const [first] = details;
  const what = details.length === 1 && first ? `${first.path} ${first.message}.` : 'see details.';
  throw new AppError('invalid_request', `With this patch the record would not be valid: ${what}`, { details });
}

export const ruleParams = z.object({ rule_id: identifier.meta({ description: 'Id of the rule' }) });
export const channelParams = z.object({ channel_id: identifier.meta({ description: 'Id of the channel' }) });
export const alertParams = z.object({ alert_id: identifier.meta({ description: 'Id of the alert' }) });
