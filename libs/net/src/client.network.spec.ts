import { describe, expect, it } from '@jest/globals';
import { toClientNetwork } from './client.network.ts';

describe('the network of a client', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['203.0.113.9', '::ffff:203.0.113.9'],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
    ['2001:db8:1:2::1', '2001:0db8:0001:0002::9'],
    ['rubbish', 'rubbish'],
  ])('of %s is that of %s', (one, other) => {
    expect(toClientNetwork(one)).toBe(toClientNetwork(other));
  });

  it.each([
    ['203.0.113.9', '203.0.113.10'],
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['::1', '127.0.0.1'],
  ])('of %s is not that of %s', (one, other) => {
    expect(toClientNetwork(one)).not.toBe(toClientNetwork(other));
  });
});
