import type { ObjectStore } from './s3.ts';

/** Bytes of a part. S3 takes parts of 5 MiB and more, and some servers only parts of one size. */
const PART_BYTES = 8 * 1024 * 1024;

export interface UploadedFile {
  key: string;
  type: string;
}

/**
 * Writes the text as one object, which appears when it is complete, and returns its size. It holds one part in memory.
 * `onBegun` is called before the first part of several is sent; whoever knows the id can abort the upload.
 */
export async function uploadText(
  bucket: ObjectStore,
  { key, type }: UploadedFile,
  text: AsyncIterable<string>,
  onBegun: (uploadId: string) => Promise<void>,
): Promise<number> {
  let pending = Buffer.alloc(0);
  let bytes = 0;
  let id: string | undefined;
  const tags: string[] = [];

  async function sendPart(part: Buffer): Promise<void> {
    if (id === undefined) {
      id = await bucket.begin(key, type);
      await onBegun(id);
    }
    tags.push(await bucket.putPart(key, id, tags.length + 1, part));
  }

  for await (const piece of text) {
    const added = Buffer.from(piece);
    bytes += added.length;
    pending = Buffer.concat([pending, added]);
    while (pending.length > PART_BYTES) {
      await sendPart(pending.subarray(0, PART_BYTES));
      pending = pending.subarray(PART_BYTES);
    }
  }
  if (id === undefined) {
    await bucket.put(key, type, pending);
    return bytes;
  }
  await sendPart(pending);
  await bucket.complete(key, id, tags);
  return bytes;
}
