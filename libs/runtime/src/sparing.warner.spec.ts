import { expect, it } from '@jest/globals';
import { testLogger } from '@tollkeeper/testing';
import { createSparingWarner } from './sparing.warner.ts';

it('a sparing warner logs at once, and then at most once a minute', () => {
  const { logger, lines } = testLogger();
  let now = 0;
  const warn = createSparingWarner(logger, () => now, 'a peer does not answer');
  for (; now < 180_000; now += 2_000) warn({ tenant_id: `ws_${now}` });
  expect(lines()).toEqual(
    ['ws_0', 'ws_60000', 'ws_120000'].map((tenant_id) =>
      expect.objectContaining({ level: 'warn', msg: 'a peer does not answer', tenant_id }),
    ),
  );
});
