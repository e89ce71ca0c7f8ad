import { invalidRequest } from './validation.ts';

/**
 * A place in a list, opaque to clients: the number by which the list is sorted, and a tie-breaker. It contains nothing
 * about a workspace: in another workspace, a list merely starts at another place.
 */
export function toCursor(order: number, rest: string | number): string {
  return Buffer.from(`${order}|${rest}`).toString('base64url');
}

/** Throws `invalid_request` for a text that is not from {@link toCursor}, or whose `rest` does not have this form. */
export function fromCursor(text: string, form: RegExp): [order: number, rest: string] {
  const [, order, rest] = /^(-?\d{1,15})\|(.+)$/s.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (order !== undefined && rest !== undefined && form.test(rest)) return [Number(order), rest];
  const message = 'must be the next_cursor of an earlier response; omit it for the first page';
  throw invalidRequest([{ path: 'cursor', message }], 1);
}
