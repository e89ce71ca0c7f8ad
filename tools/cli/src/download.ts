import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { TollkeeperError, TollkeeperUnavailable } from '@tollkeeper/client';
import { z } from 'zod';
import { fetchAsProgram, type WorkspaceConnection } from './connection.ts';
import { Failure } from './failure.ts';

const errorSchema = z.object({
  error: z.string(),
  code: z.string(),
  request_id: z.string().nullish(),
  details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});

/**
 * Writes the answer to a GET of the workspace to the file, or to standard output, as it arrives. Only a complete file
 * gets its name.
 */
export async function download(
  { session: { url, session }, slug }: WorkspaceConnection,
  path: string,
  file: string | undefined,
): Promise<void> {
  const address = `${url.replace(/\/+$/, '')}/w/${encodeURIComponent(slug)}${path}`;
  const headers = { cookie: `gw_session=${session}` };
  const answer = await fetchAsProgram(address, { headers, redirect: 'manual' }).catch(() => {
    throw new TollkeeperUnavailable(`GET ${path.split('?')[0]} could not reach Tollkeeper.`, {
      code: 'connection_failed',
    });
  });
  if (answer.status !== 200 || answer.body === null) throw await refusalOf(answer);
  const body = Readable.fromWeb(answer.body as ReadableStream);
  if (file === undefined) await toOutput(body);
  else await toFile(body, file);
}

async function toFile(body: Readable, file: string): Promise<void> {
  const part = `${file}.part`;
  try {
    await pipeline(body, createWriteStream(part));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined && /^E[A-Z]+$/.test(code)) {
      throw new Failure(`${file} cannot be written (${code}). Choose another --file.`);
    }
    throw brokenOff('Nothing was written.');
  }
}

async function toOutput(body: Readable): Promise<void> {
  try {
    await pipeline(body, process.stdout, { end: false });
  } catch (error) {
    // The next program, such as `head`, has read enough.
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return;
    throw brokenOff('The output is incomplete.');
  }
}

function brokenOff(effect: string): TollkeeperError {
  const message = `The connection broke off in the middle of the answer. ${effect} Try again.`;
  return new TollkeeperUnavailable(message, { code: 'connection_failed' });
}

async function refusalOf(answer: Response): Promise<TollkeeperError> {
  const { status } = answer;
  const parsed = errorSchema.safeParse(await answer.json().catch(() => null));
  if (!parsed.success) {
    const message = `The answer ${status} is not Tollkeeper's. Check the url: it must be the address of Tollkeeper itself.`;
    return new TollkeeperError(message, { code: 'invalid_answer', status });
  }
  const { error, code, request_id = null, details = [] } = parsed.data;
  const facts = { code, status, requestId: request_id, details };
  return status >= 500 ? new TollkeeperUnavailable(error, facts) : new TollkeeperError(error, facts);
}
