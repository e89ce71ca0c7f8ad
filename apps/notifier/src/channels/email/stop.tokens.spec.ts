import { expect, it } from '@jest/globals';
import { randomBase62 } from '@tollkeeper/kernel';
import { createStopTokens } from './stop.tokens.ts';

const [old, current] = [1, 2].map((byte) => ({ id: `k${byte}`, key: Buffer.alloc(32, byte) })) as [Key, Key];
type Key = { id: string; key: Buffer };
const reader = randomBase62(20);

it('a link to stop works as long as the key that made it is configured', () => {
  const token = createStopTokens([old]).of(reader);
  expect(createStopTokens([current, old]).readerOf(token)).toBe(reader);
  expect(createStopTokens([current, old]).of(reader)).not.toBe(token);
  expect(createStopTokens([current]).readerOf(token)).toBeNull();
});

it('a link to stop cannot be made without the key, or for another reader', () => {
  const tokens = createStopTokens([current]);
  const token = tokens.of(reader);
  const proof = token.slice(-43);
  const others = [
    ...['', 'tk_mailstop_', reader, `tk_mailstop_${reader}`, `${token}x`, token.slice(0, -1)],
    `tk_mailstop_${randomBase62(20)}${proof}`,
    `tk_mailconfirm_${reader}${proof}`,
    `tk_mailstop_${reader}${proof[0] === 'A' ? 'B' : 'A'}${proof.slice(1)}`,
  ];
  expect(others.map((each) => tokens.readerOf(each))).toEqual(others.map(() => null));
});
