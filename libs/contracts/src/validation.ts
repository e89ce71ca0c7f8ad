import { AppError, type ErrorDetail } from '@tollkeeper/kernel';
import type { z } from 'zod';

/** Keeps answers small, however much is wrong with a request. */
export const MAX_DETAILS = 100;
const MAX_KEY_LENGTH = 128;
/** Maximum number of unknown names listed in a problem; the others are counted. */
const MAX_UNKNOWN_NAMES = 5;

const EXPECTED: Record<string, string> = {
  string: 'must be a string',
  number: 'must be a number',
  int: 'must be a whole number',
  boolean: 'must be true or false',
  object: 'must be an object',
  record: 'must be an object',
  array: 'must be an array',
};

/**
 * Messages for zod's issues that fit into an error answer: pass it to `safeParse` as `error`. Messages of the schema
 * itself take precedence.
 */
export const issueMessage: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type') return issue.input === undefined ? 'is required' : EXPECTED[issue.expected];
  if (issue.code === 'invalid_value') {
    return issue.input === undefined
      ? 'is required'
      : `must be ${issue.values.map((value) => String(value)).join(' or ')}`;
  }
  // zod would list all names; `toErrorDetails` lists only the first ones.
  if (issue.code === 'unrecognized_keys') return 'has unknown fields';
  if (issue.code === 'too_big' && issue.origin === 'string') return `must be at most ${issue.maximum} characters`;
  if (issue.code === 'too_big' && typeof issue.input === 'number') return `must be at most ${issue.maximum}`;
  if (issue.code === 'too_small' && issue.origin === 'string' && issue.minimum === 1) return 'must not be empty';
  return undefined;
};

/** A path in the format of error details: `data.amount_micros`, `[3].time`, `filters.event_types[0]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += `${text === '' ? '' : '.'}${String(part).slice(0, MAX_KEY_LENGTH)}`;
  }
  return text;
}

/**
 * The problems that zod found, in the form of an error answer: one per issue, for the first 100. `prefix` is added to
 * every path. For unknown fields, the path names the first one, not its object, and the message mentions the others.
 */
export function toErrorDetails(
  issues: readonly z.core.$ZodIssue[],
  prefix: readonly PropertyKey[] = [],
): ErrorDetail[] {
  return issues.slice(0, MAX_DETAILS).map((issue) => {
    const path = [...prefix, ...issue.path];
    if (issue.code !== 'unrecognized_keys') return { path: formatPath(path), message: issue.message };
    const [first = '', ...others] = issue.keys;
    return { path: formatPath([...path, first]), message: `is not a known field${norAre(others)}` };
  });
}

/** The error of a request with `count` problems; `details` has the first 100. */
export function invalidRequest(details: ErrorDetail[], count: number): AppError {
  return new AppError('invalid_request', sentence(details, count), { details });
}

function sentence([first]: readonly ErrorDetail[], count: number): string {
  if (count > MAX_DETAILS) return `The request has ${count} problems; details lists ${MAX_DETAILS} of them.`;
  if (count > 1 || first === undefined) return `The request has ${count} problems; see details.`;
  return `The request is not valid: ${first.path === '' ? '' : `${first.path} `}${first.message}.`;
}

/** Mentions the other unknown names in the problem of the first one: `, nor are b, c and 736 more`. */
export function norAre(names: readonly string[]): string {
  if (names.length === 0) return '';
  const named = names.slice(0, MAX_UNKNOWN_NAMES - 1).map((name) => name.slice(0, MAX_KEY_LENGTH));
  const more = names.length - named.length;
  return `, ${names.length === 1 ? 'nor is' : 'nor are'} ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
