import { expect, it } from '@jest/globals';
import { statusBytes } from './protobuf-status.ts';

it.each([
  ['', [0]],
  ['x'.repeat(127), [0x7f]],
  ['é'.repeat(64), [0x80, 0x01]],
  ['x'.repeat(300), [0xac, 0x02]],
  ['x'.repeat(20_000), [0xa0, 0x9c, 0x01]],
])('a message is field 2 of a Status, after the number of its bytes', (message, length) => {
  expect(statusBytes(message)).toEqual(Buffer.concat([Buffer.from([0x12, ...length]), Buffer.from(message)]));
});
