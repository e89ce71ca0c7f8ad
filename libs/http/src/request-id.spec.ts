import { describe, expect, it } from '@jest/globals';
import { requestIdOf } from './request-id.ts';

describe('the id of a request', () => {
  it.each(['12345678', 'a'.repeat(128), '0af7651916cd43dd8448eb211c80319c', 'A.b_c:d-9'])(
    'is the one given: %s',
    (id) => {
      expect(requestIdOf(id)).toBe(id);
    },
  );

  it.each([
    undefined,
    ['12345678', '12345678'],
    ...['', '1234567', 'a'.repeat(129), '-2345678', '.2345678', '1234 5678', '12345678\n', '"12345678"', '12345678é'],
  ])('is a new one in place of %j', (given) => {
    const ids = [requestIdOf(given), requestIdOf(given)];
    for (const id of ids) expect(id).toMatch(/^req_[0-9a-f-]{36}$/);
    expect(ids[0]).not.toBe(ids[1]);
  });
});
