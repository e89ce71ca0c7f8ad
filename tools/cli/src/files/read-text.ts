/** The text of a file or a stream; null if it has more bytes. So a device without an end is not read for long. */
export async function readText(source: AsyncIterable<Buffer>, maxBytes: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
  }
  return Buffer.concat(chunks).toString('utf8');
}
