import protobuf from 'protobufjs/minimal.js';

export type OtlpSignal = 'traces' | 'logs' | 'metrics';

/**
 * The answer in OTLP/JSON. All records of a readable body are taken, so `errorMessage` is a warning, and there is no
 * number of rejected records. Empty if there is nothing to say.
 */
export function jsonAnswer(notices: readonly string[]): { partialSuccess?: { errorMessage: string } } {
  return notices.length === 0 ? {} : { partialSuccess: { errorMessage: notices.join(' ') } };
}

const PARTIAL_SUCCESS = 1;
const ERROR_MESSAGE = 2;
const BYTES = 2;

/** The answer in protobuf, with the same fields for all signals. Empty if there is nothing to say. */
export function protobufAnswer(notices: readonly string[]): Buffer {
  if (notices.length === 0) return Buffer.alloc(0);
  const writer = protobuf.Writer.create();
  writer.uint32((PARTIAL_SUCCESS << 3) | BYTES).fork();
  writer.uint32((ERROR_MESSAGE << 3) | BYTES).string(notices.join(' '));
  return Buffer.from(writer.ldelim().finish());
}

/** What a failed request over gRPC says. */
export interface Failure {
  /** The status of gRPC. */
  code: number;
  message: string;
  /** When to send the same again. Undefined if that would fail again. */
  retryAfterSeconds: number | undefined;
}

const STATUS = { code: 1, message: 2, details: 3 };
const ANY = { typeUrl: 1, value: 2 };
const RETRY_INFO = { delay: 1 };
const DURATION = { seconds: 1 };
const VARINT = 0;

/** A failure as a `google.rpc.Status`, with a `google.rpc.RetryInfo` if the same may be sent again. */
export function statusMessage({ code, message, retryAfterSeconds }: Failure): Buffer {
  const writer = protobuf.Writer.create();
  writer.uint32((STATUS.code << 3) | VARINT).int32(code);
  writer.uint32((STATUS.message << 3) | BYTES).string(message);
  if (retryAfterSeconds !== undefined) {
    writer.uint32((STATUS.details << 3) | BYTES).fork();
    writer.uint32((ANY.typeUrl << 3) | BYTES).string('type.googleapis.com/google.rpc.RetryInfo');
    writer.uint32((ANY.value << 3) | BYTES).fork();
    writer.uint32((RETRY_INFO.delay << 3) | BYTES).fork();
    writer.uint32((DURATION.seconds << 3) | VARINT).int64(retryAfterSeconds);
    writer.ldelim().ldelim().ldelim();
  }
  return Buffer.from(writer.finish());
}
