import { invalidRequest } from './validation.ts';

/**
 * A place in a list, opaque to clients: the number that orders the list, and what tells places with the same number
 * apart. It says nothing of a workspace, so with that of another one a list only begins elsewhere.
 */
export function toCursor(order: number, rest: string | number): string {
  return Buffer.from(`${order}|${rest}`).toString('base64url');
}

/** Throws `invalid_request` for a text that {@link toCursor} did not make, or whose `rest` has not this form. */
export function fromCursor(text: string, form: RegExp): [order: number, rest: string] {
  const [, order, rest] = /^(-?\d{1,15})\|(.+)$/s.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (order !== undefined && rest !== undefined && form.test(rest)) return [Number(order), rest];
  const message = 'must be the next_cursor of an earlier answer; leave it out to start at the newest';
  throw invalidRequest([{ path: 'cursor', message }], 1);
}
