import { AppError, startSlices } from '@tollkeeper/kernel';
import { ASKED } from './facts.ts';
import { decodeCallbacks, UnreadableObject } from './litellm-callback.ts';
import { decodeJson } from './otlp-json.ts';
import { decodeProtobuf, type Signal } from './otlp-protobuf.ts';
import { type IntakeRecord, MalformedBody } from './record.ts';

export type Encoding = 'protobuf' | 'json';

const DECODERS = { protobuf: decodeProtobuf, json: decodeJson };
const NAMES: Record<Encoding, string> = { protobuf: 'protobuf', json: 'OTLP/JSON' };
const REQUESTS: Record<Signal, string> = { span: 'ExportTraceServiceRequest', log: 'ExportLogsServiceRequest' };

/**
 * The spans or log entries of an OTLP request in order, read in slices. Rejects with `invalid_request` if it cannot be
 * read, and with `payload_too_large` over 100,000 records. An empty body has none.
 */
export async function decodeOtlp(bytes: Buffer, signal: Signal, encoding: Encoding): Promise<IntakeRecord[]> {
  const slices = startSlices();
  const records: IntakeRecord[] = [];
  try {
    for (const record of DECODERS[encoding](bytes, signal, ASKED)) {
      if (record !== undefined) records.push(record);
      if (slices.usedUp()) await slices.next();
    }
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

/** The objects of LiteLLM's `generic_api` callback, in slices. Rejects with `invalid_request` if none can be read. */
export async function decodeLitellm(bytes: Buffer): Promise<DecodedCallbacks> {
  const slices = startSlices();
  const decoded: DecodedCallbacks = { records: [], unreadable: [] };
  let index = 0;
  try {
    for (const record of decodeCallbacks(bytes, ASKED)) {
      if (record instanceof UnreadableObject) decoded.unreadable.push({ index, message: record.message });
      else decoded.records.push(record);
      index += 1;
      if (slices.usedUp()) await slices.next();
    }
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
