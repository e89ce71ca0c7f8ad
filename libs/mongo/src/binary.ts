/** The bytes of a field: lean documents carry the driver's own binary type. */
export function toBuffer(value: Buffer | { buffer: Uint8Array }): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.from(value.buffer);
}
