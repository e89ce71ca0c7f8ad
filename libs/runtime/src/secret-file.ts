import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * A secret that this installation makes for itself and keeps: the text of `file`, or else what `create` makes, which is
 * then stored for the owner's eyes only (mode 0600, in a directory made with 0700). A crash leaves the whole secret or
 * none. Not for two processes that create the same file at the same moment.
 */
export async function readOrCreateSecretFile(file: string, create: () => string): Promise<string> {
  const stored = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  if (stored.trim() !== '') return stored.trim();
  const secret = create();
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, secret, { mode: 0o600, flush: true });
  await rename(draft, file);
  return secret;
}
