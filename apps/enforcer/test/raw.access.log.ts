import { connect } from 'node:http2';
import { accessLogService } from '@tollkeeper/contracts';

export const POST = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' };

/** Numbers of fields, from the outermost message. */
const [HTTP_LOGS, ENTRY, COMMON] = [2, 1, 1];
const [METADATA, FILTER_METADATA, FIELDS, MAP_VALUE] = [17, 1, 1, 2];
const [LIST_VALUE, VALUES, TRUE_FIELD] = [6, 1, 0x20];

/** Sends a message of Envoy's access log as these bytes, and resolves to the number of the status. */
export async function sendRawLog(address: string, apiKey: string, message: Buffer): Promise<string> {
  const session = connect(`http://${address}`).on('error', () => undefined);
  const { path } = accessLogService.StreamAccessLogs;
  const request = session.request({ ...POST, ':path': path, authorization: `Bearer ${apiKey}` }).resume();
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  const answer = ({ 'grpc-status': status }: Record<string, unknown>) =>
    status !== undefined && resolve(String(status));
  request
    .on('response', answer)
    .on('trailers', answer)
    .on('error', () => undefined);
  request.on('close', () => resolve('none'));
  request.end(framed(message));
  const status = await ended;
  session.destroy();
  return status;
}

/** A message with these entries. */
export function messageOf(...entries: Buffer[]): Buffer {
  return field(HTTP_LOGS, Buffer.concat(entries.map((entry) => field(ENTRY, entry))));
}

/** An entry whose metadata have a list in a list in a list, and so on. */
export function deepEntry(levels: number): Buffer {
  const lists = Array<number[]>(levels).fill([LIST_VALUE, VALUES]).flat();
  const metadata = [COMMON, METADATA, FILTER_METADATA, MAP_VALUE, FIELDS, MAP_VALUE];
  const pieces: Buffer[] = [Buffer.from([TRUE_FIELD, 1])];
  let length = 2;
  for (const number of [...metadata, ...lists].reverse()) {
    const head = headOf(number, length);
    pieces.push(head);
    length += head.length;
  }
  return Buffer.concat(pieces.reverse());
}

function field(number: number, value: Buffer): Buffer {
  return Buffer.concat([headOf(number, value.length), value]);
}

/** The tag and the length of a field. */
function headOf(number: number, length: number): Buffer {
  return Buffer.from([...varint(number * 8 + 2), ...varint(length)]);
}

function varint(value: number): number[] {
  return value > 127 ? [(value % 128) + 128, ...varint(Math.floor(value / 128))] : [value];
}

function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** The entry of an answered request. */
export const entryOf = (
  requestId: string,
  requestHeaders: Record<string, string> = { 'x-tollkeeper-agent': 'planner' },
) => ({
  request: { requestId, requestHeaders },
  response: { responseCode: { value: 200 } },
});

/** The part of an entry with the metadata of tollkeeper, and of other filters. */
export const commonOf = (
  fields: Record<string, object>,
  others: Record<string, { fields: Record<string, object> }> = {},
) => ({
  metadata: { filterMetadata: { tollkeeper: { fields }, ...others } },
});
