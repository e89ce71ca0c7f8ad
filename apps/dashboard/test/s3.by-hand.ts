import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '@tollkeeper/managed-process';
import { createAddressGuard, createHttpsExchange, createNameResolver, parseCidr } from '@tollkeeper/net';
import { eventually } from '@tollkeeper/testing';
import { trustedAuthority } from '@tollkeeper/testing/authority';
import { goProgram } from '@tollkeeper/testing/go-program';
import { createObjectStore } from '../src/scheduled/s3.ts';
import { uploadText } from '../src/scheduled/upload.ts';

/** An S3 server that keeps objects as files. */
const VERSITYGW = 'github.com/versity/versitygw/cmd/versitygw@v1.8.0';
const KEY = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const MIB = 1024 * 1024;

describe('a bucket of a real S3 server', () => {
  const exchange = createHttpsExchange({
    guard: createAddressGuard([parseCidr('127.0.0.1/32')!]),
    resolve: createNameResolver(),
    timeoutMs: 60_000,
  });
  let directory: string;
  let endpoint: string;
  let server: ChildProcess;

  const bucketOf = (destination: object = {}) =>
    createObjectStore({
      exchange,
      destination: { endpoint, region: 'us-east-1', bucket: 'finance', ...KEY, ...destination },
      signal: new AbortController().signal,
      waitsMs: [],
    });
  const fileOf = (key: string) => join(directory, 'buckets/finance', key);

  beforeAll(async () => {
    const program = await goProgram('versitygw', VERSITYGW);
    directory = await mkdtemp(join(tmpdir(), 'tollkeeper-s3-'));
    const { key, cert } = await trustedAuthority();
    await writeFile(join(directory, 'key.pem'), key);
    await writeFile(join(directory, 'cert.pem'), cert);
    for (const folder of ['buckets/finance', 'facts']) await mkdir(join(directory, folder), { recursive: true });
    const port = await freePort();
    endpoint = `https://127.0.0.1:${port}`;
    const account = ['--access', KEY.accessKeyId, '--secret', KEY.secretAccessKey, '--region', 'us-east-1', '--quiet'];
    const tls = ['--cert', join(directory, 'cert.pem'), '--key', join(directory, 'key.pem')];
    const storage = ['posix', '--sidecar', join(directory, 'facts'), join(directory, 'buckets')];
    server = spawn(program, ['--port', `127.0.0.1:${port}`, ...account, ...tls, ...storage], { stdio: 'inherit' });
    await eventually(async () => {
      const socket = connect(port, '127.0.0.1');
      await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
      socket.destroy();
    });
  });
  afterAll(async () => {
    server.kill();
    await rm(directory, { recursive: true });
  });

  it('takes a file of one request, and replaces it by a repeat', async () => {
    for (const text of ['first', 'second, "1,5"\r\n']) {
      const file = { key: 'spend/ws_1/daily/2026-11-30.csv', type: 'text/csv; charset=utf-8' };
      expect(await uploadText(bucketOf(), file, pieces([text]), neverBegun)).toBe(text.length);
      expect(await readFile(fileOf(file.key), 'utf8')).toBe(text);
    }
  });

  it('takes a file of several parts, which appears when it is complete', async () => {
    const key = 'group=x/ws_1/monthly/2026-11.ndjson';
    const text = Array.from({ length: 21 }, (_, index) => `${String(index % 10).repeat(MIB - 1)}é\n`);
    const before: unknown[] = [];
    const bytes = await uploadText(bucketOf(), { key, type: 'application/x-ndjson' }, pieces(text), async () => {
      before.push(await stat(fileOf(key)).catch(() => 'absent'));
    });
    expect(before).toEqual(['absent']);
    const file = await readFile(fileOf(key), 'utf8');
    expect([file === text.join(''), bytes]).toEqual([true, 21 * (MIB + 2)]);
  });

  it('forgets an upload that is aborted', async () => {
    const key = 'spend/ws_1/daily/2026-11-29.csv';
    const bucket = bucketOf();
    const id = await bucket.begin(key, 'text/csv');
    await bucket.putPart(key, id, 1, Buffer.alloc(5 * MIB));
    await bucket.abort(key, id);
    await expect(bucket.putPart(key, id, 2, Buffer.alloc(5))).rejects.toThrow('404 (NoSuchUpload)');
    await expect(stat(fileOf(key))).rejects.toThrow('ENOENT');
  });

  it.each([
    ['the bucket is missing', { bucket: 'elsewhere' }, 'answered 404 (NoSuchBucket). Create the bucket'],
    ['the secret is wrong', { secretAccessKey: 'x'.repeat(40) }, '403 (SignatureDoesNotMatch). Correct access_key_id'],
    ['the region is another one', { region: 'eu-west-1' }, '(AuthorizationHeaderMalformed). Correct region'],
  ])('says what to do if %s', async (_why, destination, message) => {
    await expect(bucketOf(destination).put('a.csv', 'text/csv', Buffer.from('x'))).rejects.toThrow(message);
  });
});

async function* pieces(texts: readonly string[]): AsyncGenerator<string> {
  yield* texts;
}

function neverBegun(): Promise<void> {
  throw new Error('the file has one part');
}
