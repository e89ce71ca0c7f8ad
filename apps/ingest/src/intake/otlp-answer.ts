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
