import { expect, it } from '@jest/globals';
import { type KeyCheck, type VerifiedKey } from '@tollkeeper/workspace-keys';
import { createRateLimitAuthenticator } from './rate.limit.handlers.ts';

/** What a request with these descriptors costs of both quotas. */
async function charged(...descriptors: Record<string, string>[]): Promise<Record<string, number | undefined>> {
  const counts: Record<string, number | undefined> = {};
  const countIn =
    (quota: string): KeyCheck =>
    async ({ requests }) => {
      counts[quota] = requests;
      return {} as VerifiedKey;
    };
  const message = {
    domain: '',
    hitsAddend: 0,
    descriptors: descriptors.map((one) => ({
      entries: Object.entries(one).map(([key, value]) => ({ key, value })),
      hitsAddend: { value: Number(one['hits'] ?? 0) },
    })),
  };
  const check = { asking: countIn('asking'), ending: countIn('ending') };
  const facts = { authorization: 'Bearer x', requestId: 'req_1', rpc: 'ShouldRateLimit', requests: 1, message };
  await createRateLimitAuthenticator(check).authenticate(facts);
  return counts;
}

const many = (count: number, more: Record<string, string>) =>
  Array.from({ length: count }, (_, nth) => ({ call: `c-${nth}`, ...more }));

it.each([
  ['one call with four reports', many(4, { tollkeeper: 'settle', call: 'c' }), { ending: 1 }],
  ['20 calls that end', many(20, { tollkeeper: 'done' }), { ending: 20 }],
  ['more than a request may have', many(5_000, { tollkeeper: 'done' }), { ending: 20 }],
  ['calls that ask', many(3, { tollkeeper: 'reserve' }), { asking: 3 }],
  [
    'both',
    [...many(3, { tollkeeper: 'call' }), ...many(2, { tollkeeper: 'call', hits: '7' })],
    { asking: 3, ending: 2 },
  ],
  ['nothing', [], { ending: 1 }],
])('each call of a request counts for its quota: %s', async (_what, descriptors, expected) => {
  expect(await charged(...descriptors)).toEqual(expected);
});
