import { issueMessage, toErrorDetails } from '@tollkeeper/contracts';
import { AppError } from '@tollkeeper/kernel';
import type { ErrorDetail } from '@tollkeeper/kernel';
import type { z } from 'zod';
import type { RequestBody } from './request-body.ts';
import type { Route } from './route.ts';

/** The parts of a request as its route's schemas made them. */
export interface ValidRequest {
  params: unknown;
  query: unknown;
  body: unknown;
}

/** Checks all parts of a request and throws one `invalid_request` that lists every problem found (decisions §3). */
export function validate(route: Route, params: unknown, url: string, body: RequestBody): ValidRequest {
  const details: ErrorDetail[] = [];
  let left = 0;
  const check = (schema: z.ZodType | undefined, value: unknown): unknown => {
    if (schema === undefined) return schema;
    const result = schema.safeParse(value, { error: issueMessage });
    if (result.success) return result.data;
    const listed = toErrorDetails(result.error.issues);
    left += countProblems(result.error.issues) - listed.length;
    details.push(...listed);
    return undefined;
  };

  const valid: ValidRequest = {
    params: check(route.params, params) ?? {},
    query: check(route.query, readQuery(url, details)) ?? {},
    body: undefined,
  };
  if (route.bodies !== undefined) {
    const schema = body.contentType === undefined ? Object.values(route.bodies)[0] : route.bodies[body.contentType];
    if (body.value === undefined && schema?.safeParse(undefined).success !== true) {
      details.push({ path: '', message: 'a JSON body is required' });
    } else {
      valid.body = check(schema, body.value);
    }
  }
  if (details.length > 0) throw new AppError('invalid_request', sentence(details, left), { details });
  return valid;
}

/** The query as an object of strings. A parameter given twice is a problem: which of the two counts is anyone's guess. */
function readQuery(url: string, details: ErrorDetail[]): Record<string, string> {
  const start = url.indexOf('?');
  if (start === -1) return {};
  const text = url.slice(start + 1);
  try {
    decodeURIComponent(text);
  } catch {
    throw new AppError('invalid_request', 'The query holds a percent-encoding that is not UTF-8 text.');
  }
  const query = new Map<string, string>();
  const repeated = new Set<string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (query.has(name)) repeated.add(name);
    query.set(name, value);
  }
  for (const name of repeated) details.push({ path: name.slice(0, 128), message: 'must be given only once' });
  return Object.fromEntries(query);
}

/** As many as `toErrorDetails` would list without its bound. */
function countProblems(issues: readonly z.core.$ZodIssue[]): number {
  return issues.reduce((count, issue) => count + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0);
}

/** `left`: how many problems there are beside those in `details`. */
function sentence(details: readonly ErrorDetail[], left: number): string {
  const [first] = details;
  if (left > 0) return `The request has ${details.length + left} problems; details lists ${details.length} of them.`;
  if (details.length > 1 || first === undefined) return `The request has ${details.length} problems; see details.`;
  return `The request is not valid: ${first.path === '' ? '' : `${first.path} `}${first.message}.`;
}
