import { describe, expect, it } from '@jest/globals';
import { isCommonPassword } from './common-passwords.ts';

describe('common passwords', () => {
  it.each(['1qaz2wsx3edc', 'QWERTY123456', 'leavemealone', 'passwordpassword', 'aaaaaaaaaaaa', 'abcabcabcabc'])(
    'are recognized: %s',
    (password) => {
      expect(isCommonPassword(password)).toBe(true);
    },
  );

  it.each(['correct horse battery', 'x7Gq0pLr2bTzVw9k', 'benchmark-password', 'abcabcabcabcd'])(
    'are not the others: %s',
    (password) => {
      expect(isCommonPassword(password)).toBe(false);
    },
  );
});
