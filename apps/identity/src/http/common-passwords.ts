import { createRequire } from 'node:module';
import type * as languageCommon from '@zxcvbn-ts/language-common';
import { MIN_PASSWORD_LENGTH } from '../domain/password.hasher.ts';

const require = createRequire(import.meta.url);
let known: ReadonlySet<string> | undefined;

/** In lower case. Shorter ones are refused for their length. The list is read when the first password is chosen. */
function commonPasswords(): ReadonlySet<string> {
  const { dictionary } = require('@zxcvbn-ts/language-common') as typeof languageCommon;
  return new Set(dictionary['passwords-common'].filter((password) => password.length >= MIN_PASSWORD_LENGTH));
}

/**
 * Whether a password, in any case, is one of the 49,000 that leaks have shown to be the commonest, or a few characters
 * again and again.
 */
export function isCommonPassword(password: string): boolean {
  known ??= commonPasswords();
  return known.has(password.toLowerCase()) || isRepeated(password);
}

/** Such as `passwordpassword` and `aaaaaaaaaaaa`: up to eight characters, repeated. */
function isRepeated(password: string): boolean {
  return /^(.{1,8}?)\1+$/su.test(password);
}
