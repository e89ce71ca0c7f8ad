import {
  ASKED,
  type AskedAttributes,
  countCalls,
  eachInSlices,
  type IntakeRecord,
  MalformedBody,
} from '@tollkeeper/call-facts';
import { AppError } from '@tollkeeper/kernel';
import { decodeCallbacks, decodeLines } from './litellm-callback.ts';
import { decodeJson } from './otlp-json.ts';
import { decodeProtobuf, type Signal } from './otlp-protobuf.ts';

export type Encoding = 'protobuf' | 'json';

/** How many times larger an OTLP body may become by decompression. Real telemetry stays far below. */
export const MAX_OTLP_RATIO = 200;

const DECODERS = { protobuf: decodeProtobuf, json: decodeJson };
const NAMES: Record<Encoding, string> = { protobuf: 'protobuf', json: 'OTLP/JSON' };
const REQUESTS: Record<Signal, string> = { span: 'ExportTraceServiceRequest', log: 'ExportLogsServiceRequest' };

interface DecodeOptions {
  /** The names that are kept; by default those of all senders. */
  asked?: AskedAttributes;
  abort?: AbortSignal;
}

/**
 * The spans or log entries of an OTLP request in order, read in slices, without those that say nothing. Rejects with
 * `invalid_request` if it cannot be read, with `payload_too_large` over 100,000 records, and with the reason of
 * `abort`. An empty body has none.
 */
export async function decodeOtlp(
  bytes: Buffer,
  signal: Signal,
  encoding: Encoding,
  { asked = ASKED, abort }: DecodeOptions = {},
): Promise<IntakeRecord[]> {
  const records: IntakeRecord[] = [];
  const keep = (record: IntakeRecord | undefined): void => {
    // An empty span takes 2 bytes of a body, and hundreds in memory.
    if (record !== undefined && (record.attributes.size > 0 || record.spanId !== null)) records.push(record);
  };
  try {
    await eachInSlices(DECODERS[encoding](bytes, signal, asked), keep, abort);
  } catch (error) {
    throw explained(error, `must be an ${REQUESTS[signal]} in ${NAMES[encoding]}`);
  }
  return records;
}

/** What the objects of a callback say, and which of them cannot be read. */
export interface DecodedCallbacks {
  records: IntakeRecord[];
  /** In order; `index` is the position in the body. */
  unreadable: { index: number; message: string }[];
}

/**
 * The objects of LiteLLM's `generic_api` callback, in slices. Rejects with `invalid_request` if none can be read, with
 * `payload_too_large` over 10,000 objects, and with the reason of `abort`. `before` is the number of objects in earlier
 * parts of the body: if there are any, these bytes have an object a line.
 */
export async function decodeLitellm(
  bytes: Buffer,
  { asked = ASKED, abort, before = 0 }: DecodeOptions & { before?: number } = {},
): Promise<DecodedCallbacks> {
  const decoded: DecodedCallbacks = { records: [], unreadable: [] };
  const objects = countCalls(before);
  const decode = before === 0 ? decodeCallbacks : decodeLines;
  let index = before;
  const keep = (record: IntakeRecord | MalformedBody | undefined): void => {
    if (record === undefined) return;
    objects.add('callback');
    if (record instanceof MalformedBody) decoded.unreadable.push({ index, message: record.message });
    else decoded.records.push(record);
    index += 1;
  };
  try {
    await eachInSlices(decode(bytes, asked), keep, abort);
  } catch (error) {
    throw explained(
      error,
      "must be the JSON of LiteLLM's generic_api callback: log_format json_array, single or ndjson",
    );
  }
  return decoded;
}

function explained(error: unknown, must: string): unknown {
  if (!(error instanceof MalformedBody)) return error;
  const message = `The body ${error.message}. It ${must}.`;
  return new AppError('invalid_request', message, { details: [{ path: '', message: must }], cause: error });
}
