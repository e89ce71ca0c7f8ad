import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isReturnPath } from './return-path.ts';

const HERE = 'https://tollkeeper.example.com';

describe('a path to return to', () => {
  it.each(['/', '/w/demo/budgets?range=3m#today', '/invitations/a-b_c', '/w/%2F%2Fevil.example'])('is %s', (path) => {
    expect(isReturnPath(path)).toBe(true);
  });

  it.each([
    ...['', 'w/demo', '//evil.example', '///evil.example', '/\\evil.example', '\\\\evil.example', '/a\\b'],
    ...['https://evil.example', 'javascript:alert(1)', '/\t/evil.example', '/\n/evil.example', ' /w', '/w demo'],
    ...['/a/..//evil.example/..\\', '/a/..//evil.example', '/.//evil.example', '/\u0000', `/${'a'.repeat(1_000)}`],
  ])('is not %j', (path) => {
    expect(isReturnPath(path)).toBe(false);
  });

  it('never leads a browser elsewhere', () => {
    const piece = fc.constantFrom(
      '/',
      '\\',
      '.',
      ':',
      '@',
      '?',
      '#',
      '\t',
      '%2f',
      'evil.example',
      'http:',
      'javascript:',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const path = pieces.join('');
        if (!isReturnPath(path)) return;
        const { origin, pathname } = new URL(path, HERE);
        expect(origin).toBe(HERE);
        expect(pathname).not.toMatch(/^\/\//);
      }),
      { numRuns: 2_000 },
    );
  });
});
