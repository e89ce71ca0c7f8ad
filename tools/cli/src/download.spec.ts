import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createManagementApi } from '@tollkeeper/client';
import { download } from './download.ts';

// The build replaces it.
Object.assign(globalThis, { __VERSION__: 'test' });

let answer: (res: ServerResponse) => void;
const seen: (string | undefined)[] = [];
const server = createServer((req, res) => {
  seen.push(req.url, req.headers.cookie);
  answer(res);
});
let folder: string;
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollkeeper-download-'));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

const file = () => join(folder, 'spend.csv');
function save(to = file()): Promise<void> {
  const session = { url: `${url}/`, email: 'ada@example.com', session: 'secret', workspace: null };
  const connection = { api: createManagementApi({ url }), session, slug: 'demo' };
  return download(connection, '/api/v1/dashboard/export?format=csv', to);
}

describe('a download', () => {
  it('is what the workspace answers to the session', async () => {
    answer = (res) => void res.end('whole');
    await save();
    expect(seen.slice(-2)).toEqual(['/w/demo/api/v1/dashboard/export?format=csv', 'gw_session=secret']);
    expect(await readFile(file(), 'utf8')).toBe('whole');
  });

  it('that breaks off leaves no file, and the one before as it was', async () => {
    await writeFile(file(), 'earlier');
    answer = (res) => {
      res.write('a part');
      setTimeout(() => res.destroy(), 50);
    };
    await expect(save()).rejects.toMatchObject({
      code: 'connection_failed',
      message: expect.stringContaining('in the middle'),
    });
    expect(await readFile(file(), 'utf8')).toBe('earlier');
    expect(await readdir(folder)).toEqual(['spend.csv']);
  });

  it('that is refused says why, and what else answers is not called Tollkeeper', async () => {
    const body = { error: 'Wait.', code: 'rate_limited', request_id: 'r', details: [] };
    answer = (res) => void res.writeHead(429).end(JSON.stringify(body));
    await expect(save()).rejects.toMatchObject({ code: 'rate_limited', message: 'Wait.', requestId: 'r' });
    answer = (res) => void res.writeHead(202).end('<html>');
    await expect(save()).rejects.toMatchObject({ code: 'invalid_answer' });
  });

  it('to a place that cannot be written says so', async () => {
    answer = (res) => void res.end('whole');
    await expect(save(join(folder, 'nowhere', 'spend.csv'))).rejects.toThrow('cannot be written (ENOENT)');
  });
});
