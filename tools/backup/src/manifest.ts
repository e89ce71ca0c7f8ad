import { createHash } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { PREFIX } from './client.ts';
import { Failure } from './failure.ts';

const FORMAT = 1;
const FILE = 'manifest.json';

const collectionSchema = z.object({
  /** A restore writes to no other databases of a server, such as `admin`. */
  database: z.string().startsWith(PREFIX),
  name: z.string(),
  /** As `createCollection` and `createIndexes` take them, in MongoDB's extended JSON. */
  options: z.record(z.string(), z.unknown()),
  indexes: z.array(z.record(z.string(), z.unknown())),
  documents: z.int().min(0),
  bytes: z.int().min(0),
  /** In the directory of the backup. */
  file: z.string().regex(/^[^/\\]+$/),
  fileBytes: z.int().min(0),
  sha256: z.string(),
});

const backupSchema = z.object({
  format: z.int(),
  /** The point in time that all databases show. */
  takenAt: z.iso.datetime(),
  /** Version of the server. */
  mongodb: z.string(),
  /** Ids of the keys in CHANNEL_ENCRYPTION_KEYS that the channels need. */
  channelKeys: z.array(z.string()),
  collections: z.array(collectionSchema),
});

export type BackedUpCollection = z.infer<typeof collectionSchema>;
export type Backup = z.infer<typeof backupSchema>;

/** What `backup` was serialized to, so that a change of a character shows. */
const sealOf = (backup: unknown): string => createHash('sha256').update(JSON.stringify(backup)).digest('hex');

/** Written last, and by a rename: a directory with a manifest has a whole backup. */
export async function writeManifest(directory: string, content: Omit<Backup, 'format'>): Promise<Backup> {
  const backup = { format: FORMAT, ...content };
  const text = `${JSON.stringify({ sha256: sealOf(backup), backup }, null, 2)}\n`;
  const unfinished = join(directory, `${FILE}.unfinished`);
  await writeFile(unfinished, text, { flag: 'wx', mode: 0o600, flush: true });
  await rename(unfinished, join(directory, FILE));
  return backup;
}

export async function readManifest(directory: string): Promise<Backup> {
  const text = await readFile(join(directory, FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new Failure(`${directory} has no ${FILE}: it is no backup, or one that did not finish. Restore another one.`);
  });
  const damaged = new Failure(`${FILE} in ${directory} is damaged. Restore another backup.`);
  const { sha256, backup } = parse(text) ?? {};
  if (backup === undefined || sealOf(backup) !== sha256) throw damaged;
  const format = z.object({ format: z.int() }).safeParse(backup).data?.format ?? 0;
  if (format > FORMAT) {
    throw new Failure(`The backup has format ${format}, and this version reads up to ${FORMAT}. Use a newer version.`);
  }
  const checked = backupSchema.safeParse(backup);
  if (!checked.success) throw damaged;
  return checked.data;
}

function parse(text: string): { sha256?: unknown; backup?: unknown } | null {
  try {
    return JSON.parse(text) as object | null;
  } catch {
    return null;
  }
}
