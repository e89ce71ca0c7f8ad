import { randomUUID } from 'node:crypto';

/** On every response, and from the gateway to the services. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** Long enough for a UUID or a trace id, short enough for a log line, and without characters that could break one. */
const WELL_FORMED = /^[A-Za-z0-9][A-Za-z0-9._:-]{7,127}$/;

/** The client's request id if it is well formed (8 to 128 of `A-Z a-z 0-9 . _ : -`), else a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && WELL_FORMED.test(header) ? header : newRequestId();
}

/** A new request id. UUIDs come from a pool of random bits, so this is cheap enough for every request. */
export function newRequestId(): string {
  return `req_${randomUUID()}`;
}
