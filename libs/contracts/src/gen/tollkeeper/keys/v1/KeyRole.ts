// Original file: tollkeeper/keys/v1/keys.proto

/**
 * What a key may do.
 */
export const KeyRole = {
  /**
   * Never sent.
   */
  KEY_ROLE_UNSPECIFIED: 'KEY_ROLE_UNSPECIFIED',
  KEY_ROLE_READ_ONLY: 'KEY_ROLE_READ_ONLY',
  KEY_ROLE_DEVELOPER: 'KEY_ROLE_DEVELOPER',
  KEY_ROLE_ADMIN: 'KEY_ROLE_ADMIN',
} as const;

/**
 * What a key may do.
 */
export type KeyRole =
  /**
   * Never sent.
   */
  | 'KEY_ROLE_UNSPECIFIED'
  | 0
  | 'KEY_ROLE_READ_ONLY'
  | 1
  | 'KEY_ROLE_DEVELOPER'
  | 2
  | 'KEY_ROLE_ADMIN'
  | 3

/**
 * What a key may do.
 */
export type KeyRole__Output = typeof KeyRole[keyof typeof KeyRole]
