import { describe, expect, it } from '@jest/globals';
import { findUrlProblem, maskUrl, MAX_URL_LENGTH } from './destination.ts';

const noAddress = () => false;
const problemOf = (url: string) => findUrlProblem(url, noAddress);

describe('a destination', () => {
  it('has as many characters as it may, and not one more', () => {
    expect(MAX_URL_LENGTH).toBe(2048);
    const long = 'https://a.example/'.padEnd(2048, 'x');
    expect(problemOf(long)).toBeNull();
    expect(problemOf(`${long}x`)).toBe('must be at most 2048 characters');
  });

  it.each(['http://a.example/', 'ftp://a.example/', 'ws://a.example/', 'file:///etc/passwd', 'a.example'])(
    'is reached by https alone: not %s',
    (url) => expect(problemOf(url)).toBe('must be an https:// URL'),
  );

  it.each(['https://a.example/***', 'https://a.example:8443/***', 'https://a.example/in/***/x'])(
    'is not what an answer shows in its place: %s',
    (url) => expect(problemOf(url)).toMatch(/^is masked/),
  );

  it.each(['https://127.0.0.1/', 'https://127.1/', 'https://2130706433/', 'https://0x7f.1/', 'https://127.0.0.1./'])(
    'is judged by its address, in whatever form it is written: %s',
    (url) => expect(problemOf(url)).toMatch(/^must not lead to/),
  );

  it.each(['https://1st.example/', 'https://10.0.0.1.example/'])(
    'is judged by no address where it has a name: %s',
    (url) => expect(problemOf(url)).toBeNull(),
  );

  it('shows its host and its port, and nothing behind them', () => {
    expect(maskUrl('https://a.example:8443/secret?key=secret')).toBe('https://a.example:8443/***');
  });
});
