import protobuf from 'protobufjs/minimal.js';
import type { Taken } from './call.intake.ts';

export type OtlpSignal = 'traces' | 'logs' | 'metrics';

/** The names of the number of rejected records in the answers. */
export const REJECTED = {
  traces: 'rejectedSpans',
  logs: 'rejectedLogRecords',
  metrics: 'rejectedDataPoints',
} as const satisfies Record<OtlpSignal, string>;

type Outcome = Pick<Taken, 'rejected' | 'notices'>;

/** The answer in OTLP/JSON, where 64-bit integers are texts. Empty if there is nothing to say. */
export function jsonAnswer(
  signal: OtlpSignal,
  { rejected, notices }: Outcome,
): { partialSuccess?: Record<string, string> } {
  if (rejected === 0 && notices.length === 0) return {};
  return { partialSuccess: { [REJECTED[signal]]: String(rejected), errorMessage: notices.join(' ') } };
}

const PARTIAL_SUCCESS = 1;
const REJECTED_RECORDS = 1;
const ERROR_MESSAGE = 2;
const BYTES = 2;

/** The answer in protobuf, with the same fields for all signals. Empty if there is nothing to say. */
export function protobufAnswer({ rejected, notices }: Outcome): Buffer {
  if (rejected === 0 && notices.length === 0) return Buffer.alloc(0);
  const writer = protobuf.Writer.create();
  writer.uint32((PARTIAL_SUCCESS << 3) | BYTES).fork();
  writer.uint32(REJECTED_RECORDS << 3).int64(rejected);
  writer.uint32((ERROR_MESSAGE << 3) | BYTES).string(notices.join(' '));
  return Buffer.from(writer.ldelim().finish());
}
