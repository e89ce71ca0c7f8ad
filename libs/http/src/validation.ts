import { invalidRequest, issueMessage, MAX_DETAILS, toErrorDetails } from '@tollkeeper/contracts';
import { AppError, mapInSlices } from '@tollkeeper/kernel';
import type { ErrorDetail } from '@tollkeeper/kernel';
import { z } from 'zod';
import type { RequestBody } from './request-body.ts';
import type { Route } from './route.ts';

/** The parts of a request after validation. */
export interface ValidRequest {
  params: unknown;
  query: unknown;
  body: unknown;
}

/** The first problems of a request, and their total number. */
class Problems {
  readonly details: ErrorDetail[] = [];
  count = 0;

  add(...details: ErrorDetail[]): void {
    this.count += details.length;
    this.details.push(...details.slice(0, MAX_DETAILS - this.details.length));
  }

  addIssues(issues: readonly z.core.$ZodIssue[], prefix?: PropertyKey[]): void {
    const details = toErrorDetails(issues, prefix);
    this.add(...details);
    this.count += issues.length - details.length;
  }
}

type Body = Pick<RequestBody, 'contentType' | 'value'>;

/**
 * Checks all parts of a request and throws one `invalid_request` that lists the first 100 problems. The elements of a
 * body that is a list are checked in slices, with turns for other requests in between.
 */
export async function validate(route: Route, params: unknown, url: string, body: Body): Promise<ValidRequest> {
  const problems = new Problems();
  const valid: ValidRequest = {
    params: check(route.params, params, problems) ?? {},
    query: check(route.query, readQuery(route, url, problems), problems) ?? {},
    body: undefined,
  };
  const { contentType = '', value } = body;
  const schema = route.bodies?.[contentType];
  if (route.bodies !== undefined && value === undefined) {
    problems.add({ path: '', message: 'a JSON body is required' });
  } else if (schema instanceof z.ZodArray && Array.isArray(value)) {
    valid.body = await checkList(schema, value, problems);
  } else {
    valid.body = check(schema, value, problems);
  }
  const { count, details } = problems;
  if (count > 0) throw invalidRequest(details, count);
  return valid;
}

function check(schema: z.ZodType | undefined, value: unknown, problems: Problems): unknown {
  const result = schema?.safeParse(value, { error: issueMessage });
  if (result?.error !== undefined) problems.addIssues(result.error.issues);
  return result?.data;
}

const lists = new WeakMap<z.ZodArray, z.ZodArray>();

/** The schema of the list without its elements. Cached, because making it costs more than using it. */
function withoutElements(schema: z.ZodArray): z.ZodArray {
  const known = lists.get(schema);
  if (known !== undefined) return known;
  const made = schema.clone({ ...schema.def, element: z.unknown() });
  lists.set(schema, made);
  return made;
}

/** The validated list. Problems of the list itself, such as its length, come before those of the elements. */
async function checkList(schema: z.ZodArray, list: readonly unknown[], problems: Problems): Promise<unknown[]> {
  const itself = withoutElements(schema).safeParse(list, { error: issueMessage });
  if (!itself.success) {
    problems.addIssues(itself.error.issues);
    return [];
  }
  return mapInSlices(list, (element, index) => {
    const result = z.safeParse(schema.element, element, { error: issueMessage });
    if (!result.success) problems.addIssues(result.error.issues, [index]);
    return result.data;
  });
}

/**
 * The query as an object of strings, and of objects for parameters with members. A repeated parameter is a problem,
 * because its value would be ambiguous.
 */
function readQuery(
  { query: schema, takesAnyRequest }: Route,
  url: string,
  problems: Problems,
): Record<string, unknown> {
  const start = url.indexOf('?');
  if (start === -1) return {};
  const text = url.slice(start + 1);
  if (takesAnyRequest) return Object.fromEntries(new URLSearchParams(text));
  try {
    decodeURIComponent(text);
  } catch {
    throw new AppError('invalid_request', 'The query contains percent-encoding that is not valid UTF-8.');
  }
  const query = new Map<string, string>();
  const members = new Map<string, [string, string][]>();
  const repeated = new Set<string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (query.has(name)) repeated.add(name);
    query.set(name, value);
    const dot = name.indexOf('.');
    const whole = name.slice(0, Math.max(dot, 0));
    if (!hasMembers(schema?.shape[whole])) continue;
    const known = members.get(whole);
    if (known === undefined) members.set(whole, [[name.slice(dot + 1), value]]);
    else known.push([name.slice(dot + 1), value]);
  }
  for (const name of repeated) problems.add({ path: name.slice(0, 128), message: 'must be given only once' });
  const objects = Array.from(members, ([whole, pairs]) => [whole, Object.fromEntries(pairs)]);
  return { ...Object.fromEntries(objects), ...Object.fromEntries(query) };
}

function hasMembers(schema: unknown): boolean {
  return schema instanceof z.ZodOptional ? hasMembers(schema.unwrap()) : schema instanceof z.ZodRecord;
}
