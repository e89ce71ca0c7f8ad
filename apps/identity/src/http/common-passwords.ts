import { dictionary } from '@zxcvbn-ts/language-common';
import { MIN_PASSWORD_LENGTH } from '../domain/password.hasher.ts';

/** In lower case. Shorter ones are refused for their length. */
const COMMON = new Set(dictionary['passwords-common'].filter((password) => password.length >= MIN_PASSWORD_LENGTH));

/**
 * Whether a password, in any case, is one of the 49,000 that leaks have shown to be the commonest, or a few characters
 * again and again.
 */
export function isCommonPassword(password: string): boolean {
  return COMMON.has(password.toLowerCase()) || isRepeated(password);
}

/** Such as `passwordpassword` and `aaaaaaaaaaaa`: up to eight characters, repeated. */
function isRepeated(password: string): boolean {
  return /^(.{1,8}?)\1+$/su.test(password);
}
