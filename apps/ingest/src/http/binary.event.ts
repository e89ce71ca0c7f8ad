import { type GatewayEvent, invalidRequest, issueMessage, toErrorDetails } from '@tollkeeper/contracts';
import type { RequestFacts } from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';
import type { z } from 'zod';

/** The attributes of an event that Tollkeeper reads. */
const ATTRIBUTES = ['specversion', 'id', 'source', 'type', 'time'] as const;

/**
 * The event of a request in CloudEvents' binary mode: its attributes are the headers `ce-id` and so on, its data is the
 * body. Throws `invalid_request`, naming headers, and `unsupported_media_type` if no header says that it is an event.
 */
export function binaryEvent(
  event: z.ZodType<GatewayEvent>,
  headers: RequestFacts['headers'],
  data: unknown,
): GatewayEvent {
  if (headers['ce-specversion'] === undefined) throw neither();
  const attributes = ATTRIBUTES.map((name) => [name, decoded(headers[`ce-${name}`])] as const);
  const {
    success,
    data: read,
    error,
  } = event.safeParse({ ...Object.fromEntries(attributes), data }, { error: issueMessage });
  if (success) return read;
  const details = toErrorDetails(error.issues).map(({ path, message }) => ({ path: whereOf(path), message }));
  throw invalidRequest(details, error.issues.length);
}

function neither(): AppError {
  return new AppError(
    'unsupported_media_type',
    'The Content-Type must be application/cloudevents+json or application/cloudevents-batch+json, or application/json ' +
      'for the data of an event with the headers ce-specversion, ce-id, ce-source, ce-type and ce-time.',
  );
}

/** Characters of headers may be percent-encoded. */
function decoded(header: string | string[] | undefined): unknown {
  try {
    return typeof header === 'string' ? decodeURIComponent(header) : header;
  } catch {
    return header;
  }
}

const BODY = /^data(?:\.|$)/;

/** `data.run_id` is `run_id` of the body, and `id` is the header `ce-id`. */
function whereOf(path: string): string {
  if (!BODY.test(path)) return `ce-${path}`;
  return path.slice('data.'.length);
}
