import { describe, expect, it } from '@jest/globals';
import { loadConfig } from '@tollkeeper/runtime';
import { notifierConfig } from './config.ts';

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const environment = {
  MONGODB_URI: 'mongodb://127.0.0.1/',
  CALLER_TOKEN_SECRET: 'a-caller-token-secret-of-enough-bytes',
  IDENTITY_GRPC: 'identity:9090',
  PUBLIC_URL: 'https://tollkeeper.example.com',
};
const load = (keys?: string) => loadConfig(notifierConfig, { ...environment, CHANNEL_ENCRYPTION_KEYS: keys });

describe('CHANNEL_ENCRYPTION_KEYS', () => {
  it('takes keys in their order, with blanks around them', () => {
    expect(load(`new:${key(2)}, old:${key(1)}`).CHANNEL_ENCRYPTION_KEYS).toEqual([
      { id: 'new', key: Buffer.alloc(32, 2) },
      { id: 'old', key: Buffer.alloc(32, 1) },
    ]);
  });

  it.each([
    ['no id', key(1)],
    ['a key of 16 bytes', `a:${Buffer.alloc(16, 1).toString('base64')}`],
    ['what is not base64', `a:${'!'.repeat(43)}=`],
    ['a comma too many', `a:${key(1)},`],
    ['an id twice', `a:${key(1)},a:${key(2)}`],
  ])('refuses %s without printing it', (_case, keys) => {
    expect(() => load(keys)).toThrow(/CHANNEL_ENCRYPTION_KEYS: key [12] /);
    expect(() => load(keys)).not.toThrow(keys);
  });

  it('is required', () => {
    expect(() => load()).toThrow('CHANNEL_ENCRYPTION_KEYS: is required');
  });
});
