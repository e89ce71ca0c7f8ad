import { describe, expect, it } from '@jest/globals';
import { type Cidr, createAddressGuard, parseCidr } from './address.guard.ts';

const cidrs = (...texts: string[]): Cidr[] => texts.map(parseCidr).filter((cidr) => cidr !== null);

describe('the address guard', () => {
  const guard = createAddressGuard([]);

  it.each(['8.8.8.8', '1.1.1.1', '93.184.216.34', '2606:4700:4700::1111', '::ffff:8.8.8.8'])('allows %s', (address) => {
    expect(guard.allows(address)).toBe(true);
  });

  it.each([
    ['this network', '0.0.0.0', '0.1.2.3'],
    ['loopback', '127.0.0.1', '127.255.255.254', '::1'],
    ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ['link-local and cloud metadata', '169.254.169.254', 'fe80::1', 'fe80::1%eth0'],
    ['shared by carriers', '100.64.0.1', '100.127.255.255'],
    ['unique local', 'fc00::1', 'fd00:ec2::254'],
    ['site-local', 'fec0::1'],
    ['multicast and broadcast', '224.0.0.1', '239.1.1.1', '255.255.255.255', 'ff02::1'],
    ['reserved', '240.0.0.1', '192.0.0.8', '4000::1', '5f00::1'],
    ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
    ['benchmarking', '198.18.0.1', '2001:2::1'],
    ['unspecified', '::'],
    ['IPv4 mapped in IPv6', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:169.254.169.254'],
    ['IPv4 compatible', '::127.0.0.1', '::7f00:1'],
    ['translated (NAT64)', '64:ff9b::7f00:1', '64:ff9b:1::7f00:1', '::ffff:0:7f00:1'],
    ['6to4', '2002:7f00:1::', '192.88.99.1'],
    ['Teredo', '2001::1'],
    ['discard', '100::1'],
    ['no address', '', 'localhost', '127.1', '0x7f.1', '2130706433', '1.2.3.4.5', 'fe80::1%br-ab'],
  ])('refuses what is %s', (_range, ...addresses) => {
    for (const address of addresses) expect([address, guard.allows(address)]).toEqual([address, false]);
  });

  it('opens what the operator names, and nothing beside it', () => {
    const opened = createAddressGuard(cidrs('127.0.0.0/30', 'fd00::/8'));
    expect(['127.0.0.1', '::ffff:127.0.0.1', 'fd12::1', '8.8.8.8'].map(opened.allows)).toEqual([
      true,
      true,
      true,
      true,
    ]);
    const translated = createAddressGuard(cidrs('64:ff9b::/96'));
    expect(['64:ff9b::808:808', '64:ff9b:1::808:808'].map(translated.allows)).toEqual([true, false]);
    expect(['127.0.0.4', '10.0.0.1', '::1', 'fe80::1'].map(opened.allows)).toEqual([false, false, false, false]);
  });
});

describe('metadata of clouds', () => {
  const METADATA = [
    ['AWS, GCP, Azure, Oracle and most others', '169.254.169.254'],
    ['AWS containers', '169.254.170.2'],
    ['AWS pods', '169.254.170.23'],
    ['AWS in IPv6', 'fd00:ec2::254'],
    ['AWS pods in IPv6', 'fd00:ec2::23'],
    ['GCP in IPv6', 'fd20:ce::254'],
    ['Azure wire server', '168.63.129.16'],
    ['Alibaba', '100.100.100.200'],
    ['Oracle Classic', '192.0.0.192'],
    ['Oracle in IPv6', 'fd00:c1::a9fe:a9fe'],
    ['Tencent', '169.254.0.23'],
    ['Scaleway', '169.254.42.42'],
    ['Scaleway in IPv6', 'fd00:42::42'],
    ['OpenStack in IPv6', 'fe80::a9fe:a9fe'],
  ] as const;
  const closed = createAddressGuard([]);
  const wide = createAddressGuard(cidrs('0.0.0.0/0', '::/0', '168.63.129.0/24', '169.254.169.254/31', 'fd00::/8'));

  it.each(METADATA)('of %s are refused, also within a network that the operator opens: %s', (_cloud, address) => {
    expect([closed.allows(address), wide.allows(address)]).toEqual([false, false]);
    if (!address.includes(':')) expect(wide.allows(`::ffff:${address}`)).toBe(false);
  });

  it.each(METADATA)('of %s are open to an operator who names that very address: %s', (_cloud, address) => {
    const named = createAddressGuard(cidrs(`${address}/${address.includes(':') ? 128 : 32}`));
    expect(named.allows(address)).toBe(true);
  });

  it('take no neighbour with them', () => {
    expect(['168.63.129.15', '168.63.129.17'].map(closed.allows)).toEqual([true, true]);
    expect(['169.254.169.253', 'fd00:ec2::255'].map(wide.allows)).toEqual([true, true]);
  });
});

describe('a network', () => {
  it.each(['10.0.0.0/8', '127.0.0.1/32', '0.0.0.0/0', 'fd00::/8', '::1/128'])('is %s', (text) => {
    expect(parseCidr(text)).not.toBeNull();
  });

  it.each(['10.0.0.1', '10/8', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', 'localhost/8', '', '/8'])(
    'is not %s',
    (text) => {
      expect(parseCidr(text)).toBeNull();
    },
  );
});
