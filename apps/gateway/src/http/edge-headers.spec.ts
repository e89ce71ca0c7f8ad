import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { createEdgeHeaders } from './edge-headers.ts';

/** The headers of an answer whose service sent `given`, as pairs with lower-case names. */
function answerWith(given: IncomingHttpHeaders, publicUrl = 'https://tollkeeper.example'): [string, string][] {
  const flat = createEdgeHeaders(publicUrl).ofAnswer('request-1', given);
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!.toLowerCase(), flat[2 * i + 1]!]);
}

describe("a service's answer", () => {
  it('gets the headers of the edge, each once, whatever the service says', () => {
    const own = answerWith({});
    expect(own).toEqual([
      ['x-request-id', 'request-1'],
      ['strict-transport-security', expect.stringContaining('max-age=')],
      ['x-content-type-options', 'nosniff'],
      ['x-frame-options', 'SAMEORIGIN'],
      ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
      ['cache-control', 'no-store'],
    ]);
    expect(answerWith(Object.fromEntries(own.map(([name]) => [name, 'of-the-service'])))).toEqual(own);
  });

  it('keeps its own, each value of those that may come again, and none that is not there', () => {
    const [etag, cookies] = ['"1"', ['a=1', 'b=2']];
    expect(answerWith({ etag, 'set-cookie': cookies, link: undefined }).slice(6)).toEqual([
      ['etag', etag],
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ]);
  });

  it.each([
    ...['connection', 'date', 'keep-alive', 'proxy-authenticate', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ])('passes without what is between two neighbours: %s', (name) => {
    expect(answerWith({ [name]: 'x' })).toEqual(answerWith({}));
  });

  it('asks for TLS only where the public URL has it', () => {
    const names = answerWith({}, 'http://localhost:8080').map(([name]) => name);
    expect(names).not.toContain('strict-transport-security');
    expect(names).toContain('x-frame-options');
  });
});
