import { z } from 'zod';

/** Maximum number of labels that a call, an agent or a key may have. */
export const MAX_LABELS = 10;

/** What a call is for, by name: `{team: 'growth', env: 'prod'}`. */
export type Labels = Readonly<Record<string, string>>;

/** What is wrong with the name of a label. */
export const LABEL_NAME = 'must be a name of 1 to 32 characters of a-z 0-9 _ . -, starting with a-z';
const VALUE = 'must be 1 to 128 printable characters, without a space at its ends';

/** The name of a label. */
export const labelName = z.string().regex(/^[a-z][a-z0-9_.-]{0,31}$/, LABEL_NAME);
/** The value of a label. */
export const labelValue = z
  .string()
  .regex(/^[ -~\u00a0-\uffff]{1,128}$/, { error: VALUE, abort: true })
  // Also without what is invisible, reorders text, or is half of a pair. OpenAPI has no pattern for that.
  .refine((value) => !/[\p{C}\p{Zl}\p{Zp}]/u.test(value) && value.trim() === value, VALUE);

/** The labels of a call, an agent or a key. */
export const labels = z
  .record(labelName, labelValue, { error: ({ code }) => (code === 'invalid_key' ? LABEL_NAME : undefined) })
  .refine((all) => Object.keys(all).length <= MAX_LABELS, `must be at most ${MAX_LABELS} labels`)
  .meta({
    description: `What the spend is for: at most ${MAX_LABELS} labels, each with a value of 1–128 printable characters`,
    maxProperties: MAX_LABELS,
    example: { team: 'growth', env: 'prod' },
  });

/** Maximum number of labels that a workspace tracks. */
export const MAX_TRACKED_LABELS = 5;

/** The names of the labels whose spend the dashboard keeps apart. */
export const trackedLabels = z
  .array(labelName)
  .max(MAX_TRACKED_LABELS, `must be at most ${MAX_TRACKED_LABELS} names`)
  .refine((names) => new Set(names).size === names.length, 'must not name a label twice')
  .meta({
    description: `Labels by which the dashboard divides and filters spend, at most ${MAX_TRACKED_LABELS}. The values of a label count from the time it is tracked, or tracked again`,
    uniqueItems: true,
    example: ['team', 'env'],
  });

/** The labels in the form of a field of the audit log, ordered by name; null for none. */
export function auditedLabels(labels: Labels): readonly string[] | null {
  const texts = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return texts.length === 0 ? null : texts.sort();
}

/** The labels of a call from its sources. For each name, the first source that has it wins. */
export function mergeLabels(...sources: readonly Labels[]): Labels {
  let merged: Labels = {};
  // Most calls have labels from one source at most, and then nothing is copied.
  for (const source of sources) {
    if (isWithoutLabels(merged)) merged = source;
    else if (!isWithoutLabels(source)) merged = { ...source, ...merged };
  }
  return merged;
}

export function isWithoutLabels(labels: Labels): boolean {
  return Object.keys(labels).length === 0;
}
