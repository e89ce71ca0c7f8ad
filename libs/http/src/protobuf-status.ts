export const PROTOBUF_TYPE = 'application/x-protobuf';

/** Whether a request has the content type of OTLP in protobuf, whose senders read no JSON. */
export function isProtobuf(contentType = ''): boolean {
  const [type = ''] = contentType.split(';');
  return type.trim().toLowerCase() === PROTOBUF_TYPE;
}

/** The field `message` of a `google.rpc.Status`, whose value has a length. */
const MESSAGE = (2 << 3) | 2;

/** A `google.rpc.Status` with a message, as OTLP over HTTP wants errors. Its senders do not read the code. */
export function statusBytes(message: string): Buffer {
  const text = Buffer.from(message);
  return Buffer.concat([Buffer.from([MESSAGE, ...varint(text.length)]), text]);
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}
