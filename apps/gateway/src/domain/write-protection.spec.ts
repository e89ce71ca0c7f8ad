import { describe, expect, it } from '@jest/globals';
import type { WriteHeaders } from './write-protection.ts';
import { createWriteProtection, hasBody, isSafeMethod, refuseFormBody } from './write-protection.ts';

const PUBLIC = 'https://tollkeeper.example';
const refuseCrossSite = createWriteProtection(`${PUBLIC}/some/path`);

describe('a write', () => {
  it.each<[string, WriteHeaders]>([
    ['neither header, as programs send it', {}],
    ['the public origin', { origin: PUBLIC, host: 'inside:8080' }],
    ['the host that it was sent to', { origin: 'https://other.example', host: 'other.example' }],
    ['the same site', { 'sec-fetch-site': 'same-origin' }],
  ])('passes with %s', (_what, headers) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect(() => refuseCrossSite(method, headers)).not.toThrow();
    }
  });

  it.each<[string, WriteHeaders]>([
    ['another origin', { origin: 'https://evil.example', host: 'tollkeeper.example' }],
    ['another scheme', { origin: 'http://other.example', host: 'other.example' }],
    ['no origin to speak of', { origin: 'null', host: 'tollkeeper.example' }],
    ['another origin of the same site', { 'sec-fetch-site': 'same-site', origin: PUBLIC }],
    ['a good site but another origin', { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }],
    ['two sites', { 'sec-fetch-site': ['same-origin', 'same-origin'] }],
  ])('is refused with %s, and names the origin that would pass', (_what, headers) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect(() => refuseCrossSite(method, headers)).toThrow(
        expect.objectContaining({
          code: 'cross_site_request',
          message: `This request comes from another site. Send it from a page of ${PUBLIC}, the origin that PUBLIC_URL sets.`,
        }),
      );
    }
  });

  it('is any method but GET, HEAD and OPTIONS, which pass from everywhere', () => {
    const methods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'get', ''];
    expect(methods.filter(isSafeMethod)).toEqual(['GET', 'HEAD', 'OPTIONS']);
    expect(() => refuseCrossSite('GET', { origin: 'https://evil.example' })).not.toThrow();
  });
});

describe('a body', () => {
  it('is there when its length is not 0 or when it comes in chunks', () => {
    expect([{}, { 'content-length': '0' }].map(hasBody)).toEqual([false, false]);
    expect([{ 'content-length': '1' }, { 'transfer-encoding': 'chunked' }].map(hasBody)).toEqual([true, true]);
  });

  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json ;charset=utf-8',
    'application/merge-patch+json',
    'application/vnd.x-1.2+json',
    'text/csv',
    'text/csv; charset=utf-8',
  ])('passes as %s', (type) => {
    expect(() => refuseFormBody({ 'content-length': '2', 'content-type': type })).not.toThrow();
  });

  it.each([
    undefined,
    '',
    'text/plain',
    'text/plain; application/json',
    'x-application/json',
    'application/jsonx',
    'application/json x',
    'application/+json',
    'application/a/b+json',
    'text/csvx',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
  ])('is refused as %s, which a form could have sent', (type) => {
    expect(() => refuseFormBody({ 'content-length': '2', 'content-type': type })).toThrow(
      expect.objectContaining({
        code: 'unsupported_media_type',
        message: 'The Content-Type must be application/json, or text/csv for a file.',
      }),
    );
  });

  it('that is not there needs no type', () => {
    expect(() => refuseFormBody({ 'content-length': '0', 'content-type': 'text/plain' })).not.toThrow();
  });
});
