import type { ErrorDetail } from '@tollkeeper/kernel';
import type { z } from 'zod';

/** Answers stay small however much is wrong with a request. */
const MAX_DETAILS = 100;
const MAX_KEY_LENGTH = 128;

const EXPECTED: Record<string, string> = {
  string: 'must be a string',
  number: 'must be a number',
  int: 'must be a whole number',
  boolean: 'must be true or false',
  object: 'must be an object',
  array: 'must be an array',
};

/**
 * Words for what zod finds, fit for an error answer: pass it to `safeParse` as `error`. A message that a schema
 * brings itself comes first.
 */
export const issueMessage: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type') return issue.input === undefined ? 'is required' : EXPECTED[issue.expected];
  if (issue.code === 'invalid_value') {
    return issue.input === undefined
      ? 'is required'
      : `must be ${issue.values.map((value) => String(value)).join(' or ')}`;
  }
  if (issue.code === 'too_big' && typeof issue.input === 'number') return `must be at most ${issue.maximum}`;
  return undefined;
};

/** A path as error details write it: `data.amount_micros`, `[3].time`, `filters.event_types[0]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += `${text === '' ? '' : '.'}${String(part).slice(0, MAX_KEY_LENGTH)}`;
  }
  return text;
}

/**
 * The problems that zod found, one for each field, as an error answer lists them; the first 100 of them.
 * `prefix` stands before every path. A field that is not known is named itself, not the object that it is in.
 */
export function toErrorDetails(
  issues: readonly z.core.$ZodIssue[],
  prefix: readonly PropertyKey[] = [],
): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  for (const issue of issues) {
    const path = [...prefix, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) details.push({ path: formatPath([...path, key]), message: 'is not a known field' });
    } else {
      details.push({ path: formatPath(path), message: issue.message });
    }
    if (details.length >= MAX_DETAILS) return details.slice(0, MAX_DETAILS);
  }
  return details;
}
