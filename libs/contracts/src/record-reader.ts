import type { z } from 'zod';
import { formatPath } from './validation.ts';

type Reviver = (key: string, value: unknown) => unknown;

/** Reads the value of a log record. Throws an Error that names the invalid fields, never their values. */
export function readRecord<S extends z.ZodType>(schema: S, value: Buffer, reviver?: Reviver): z.output<S> {
  const result = schema.safeParse(parseJson(value, reviver));
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => `${formatPath(issue.path)}: ${issue.message}`);
  throw new Error(`The record can't be read: ${problems.slice(0, 5).join('; ')}`);
}

function parseJson(value: Buffer, reviver?: Reviver): unknown {
  try {
    return JSON.parse(value.toString(), reviver);
  } catch {
    throw new Error('The record is not JSON');
  }
}
