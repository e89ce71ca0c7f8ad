import { expect, it } from '@jest/globals';
import { pageOf } from './device-login.ts';

const started = (verification_uri_complete: string) => ({
  ...{ device_code: 'tk_device_x', user_code: 'BCDF-GHJK', verification_uri: 'https://tollkeeper.example.com/device' },
  ...{ verification_uri_complete, expires_in: 600, interval: 3 },
});

it('opens only a page of the web, without characters that a terminal would act on', () => {
  const page = 'https://tollkeeper.example.com/device#BCDF-GHJK';
  expect(pageOf(started(page))).toBe(page);
  expect(pageOf(started(`${page}\u001b[2J`))).toBe(`${page}%1B[2J`);
  for (const other of [
    'file:///bin/sh',
    '/bin/sh',
    String.raw`\\host\share\x.exe`,
    'javascript:alert(1)',
    'C:\\x.exe',
  ]) {
    expect(() => pageOf(started(other))).toThrow('Check --url');
  }
});
