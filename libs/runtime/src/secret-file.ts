import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * A secret that this installation generates and keeps: the text of `file`, or the result of `create`, which is then
 * stored for its owner only (mode 0600, in a directory with 0700). A crash leaves the whole secret or none. Two
 * processes must not create the same file concurrently.
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
