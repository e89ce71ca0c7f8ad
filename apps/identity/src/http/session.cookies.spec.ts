import { describe, expect, it } from '@jest/globals';
import { digestOf } from '@tollkeeper/kernel';
import { createSessionCookies, sessionOf } from './session.cookies.ts';

describe('session cookies', () => {
  it.each([
    ['http://localhost:8080', false],
    ['http://127.0.0.1:8080', false],
    ['http://127.8.9.1', false],
    ['http://[::1]:8080', false],
    ['http://console.localhost', false],
    ['https://localhost', true],
    ['http://tollkeeper.example.com', true],
    ['http://127.0.0.1.example.com', true],
    ['http://localhost.example.com', true],
    ['http://10.0.0.1', true],
    ['https://tollkeeper.example.com', true],
  ])('of %s are secure: %s', (publicUrl, secure) => {
    const cookies = createSessionCookies(publicUrl);
    for (const header of [cookies.set('x'), cookies.clear()]) expect(header.includes('Secure')).toBe(secure);
  });

  it.each([
    [undefined, null],
    ['', null],
    ['other=1', null],
    ['gw_session=', null],
    ['a=1; gw_session=abc; b=2', 'abc'],
  ])('of the header %j carry %j', (cookie, value) => {
    expect(sessionOf(cookie === undefined ? {} : { cookie })).toBe(value === null ? null : digestOf(value));
  });
});
