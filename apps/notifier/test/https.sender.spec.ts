import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { generate } from 'selfsigned';
import { drop, hang, startReceiver, status } from './receiver.ts';
import { useSender } from './sender.stack.ts';

describe('the sender', () => {
  const { authority, receiver, send } = useSender();

  it('answers status, snippet and Retry-After, whatever the status', async () => {
    receiver().answers.push(status(503, { 'retry-after': '30' }, 'later'));
    expect(await send()).toEqual({ kind: 'answered', status: 503, snippet: 'later', retryAfter: '30' });
    expect(await send()).toEqual({ kind: 'answered', status: 200, snippet: 'thanks', retryAfter: null });
    expect(receiver().received.map(({ path, body }) => [path, body])).toEqual([
      ['/hook', '{"type":"t"}'],
      ['/hook', '{"type":"t"}'],
    ]);
  });

  it('does not follow redirects', async () => {
    receiver().answers.push(status(302, { location: 'https://169.254.169.254/latest/meta-data' }));
    expect(await send()).toMatchObject({ kind: 'answered', status: 302 });
    expect(receiver().received).toHaveLength(1);
  });

  describe('the snippet', () => {
    it('is the first KiB of 100 MB, and the connection is dropped there', async () => {
      let written = 0;
      const closed = Promise.withResolvers<void>();
      receiver().answers.push((response) => {
        const chunk = Buffer.alloc(64 * 1024, 'x');
        const write = (): void => {
          while (written < 100 * 1024 * 1024 && !response.destroyed) {
            written += chunk.length;
            if (!response.write(chunk)) return void response.once('drain', write);
          }
        };
        response.on('close', closed.resolve);
        write();
      });
      const outcome = await send();
      await closed.promise;
      expect(outcome).toMatchObject({ kind: 'answered', status: 200, snippet: 'x'.repeat(1024) });
      expect(written).toBeLessThan(20 * 1024 * 1024);
    });

    it('is text of at most 1 KiB, whatever the bytes, without control characters', async () => {
      const bodies = [Buffer.alloc(5000, 0xff), Buffer.from('é'.repeat(2000)), Buffer.from('a\u0000\u001b[31mb\nc')];
      const snippets: string[] = [];
      for (const body of bodies) {
        receiver().answers.push((response) => response.end(body));
        const outcome = await send();
        snippets.push(outcome.kind === 'answered' ? outcome.snippet : '');
      }
      expect(snippets[0]).toBe('\ufffd'.repeat(341));
      expect(snippets[1]).toBe('é'.repeat(512));
      expect(snippets[2]).toBe('a[31mb\nc');
    });

    it('is what came of a body that breaks off or never ends', async () => {
      receiver().answers.push((response, request) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('half', () => request.socket.destroy());
      });
      receiver().answers.push((response) => void response.write('drip'));
      expect(await send()).toMatchObject({ status: 200, snippet: 'half' });
      expect(await send({ timeoutMs: 60_000 })).toMatchObject({ status: 200, snippet: 'drip' });
    });
  });

  describe('without an answer', () => {
    it('says that the time is over, and releases the connection', async () => {
      receiver().answers.push(hang);
      expect(await send({ timeoutMs: 200 })).toEqual({
        kind: 'unreachable',
        reason: 'The destination did not answer within 0.2 s.',
      });
    });

    it('counts the time that a name takes', async () => {
      const outcome = await send({ timeoutMs: 50, resolve: () => new Promise(() => undefined) });
      expect(outcome).toMatchObject({ kind: 'unreachable', reason: expect.stringContaining('within') });
    });

    it('says that the connection was dropped, or refused', async () => {
      receiver().answers.push(drop);
      expect(await send()).toEqual({
        kind: 'unreachable',
        reason: 'The destination closed the connection without an answer.',
      });
      const gone = await startReceiver(authority());
      await gone.stop();
      expect(await send({ url: gone.url })).toEqual({
        kind: 'unreachable',
        reason: 'The destination refused the connection.',
      });
    });

    it('says that the name is not known', async () => {
      const resolve = () =>
        Promise.reject(Object.assign(new Error('queryA ENOTFOUND secret.test'), { code: 'ENOTFOUND' }));
      expect(await send({ resolve })).toEqual({ kind: 'unreachable', reason: "The destination's name is not known." });
    });

    it('refuses a certificate of nobody it trusts, and one for another name', async () => {
      const { private: key, cert } = await generate([{ name: 'commonName', value: 'hooks.test' }], {
        keyType: 'ec',
        algorithm: 'sha256',
      });
      const untrusted = await startReceiver({ ca: cert, key, cert });
      expect(await send({ url: untrusted.url })).toMatchObject({
        kind: 'unreachable',
        reason: expect.stringContaining('not trusted'),
      });
      expect(untrusted.received).toEqual([]);
      await untrusted.stop();
      expect(await send({ url: `https://other.test:${receiver().port}/` })).toMatchObject({
        kind: 'unreachable',
        reason: "The destination's certificate is for another name.",
      });
    });

    it('takes no more than 16 KiB of headers', async () => {
      receiver().answers.push(status(200, { 'x-large': 'x'.repeat(20_000) }));
      expect(await send()).toEqual({
        kind: 'unreachable',
        reason: 'The destination answered with more than 16 KiB of headers.',
      });
    });

    it('does not take what is not HTTP for an answer', async () => {
      const noise = createTlsServer(authority());
      noise.on('secureConnection', (socket) => socket.end('SSH-2.0-noise\r\n'));
      noise.listen(0, '127.0.0.1');
      await once(noise, 'listening');
      const { port } = noise.address() as AddressInfo;
      expect(await send({ url: `https://hooks.test:${port}/` })).toMatchObject({ kind: 'unreachable' });
      noise.close();
    });

    it('rejects with the reason of the signal that cuts it off', async () => {
      receiver().answers.push(hang);
      const cut = new AbortController();
      const sending = send({ signal: cut.signal });
      cut.abort(new Error('stopping'));
      await expect(sending).rejects.toThrow('stopping');
    });
  });
});
