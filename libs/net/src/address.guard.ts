import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Decides to which addresses deliveries may go. */
export interface AddressGuard {
  /** `address` is an IPv4 or IPv6 address in text; anything else is not allowed. */
  allows(address: string): boolean;
}

type Address = ReturnType<typeof ipaddr.parse>;
export type Cidr = ReturnType<typeof ipaddr.parseCIDR>;

const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/**
 * Addresses at which clouds give machines their credentials. Most are in special ranges anyway, but a network that an
 * operator allows must not include them. Azure's is a public address.
 */
const CLOUD_METADATA = [
  '169.254.169.254/32', // AWS, GCP, Azure, Oracle and most others
  '169.254.170.2/32', // AWS, containers
  '169.254.170.23/32', // AWS, pods
  'fd00:ec2::254/128', // AWS
  'fd00:ec2::23/128', // AWS, pods
  'fd20:ce::254/128', // GCP
  '168.63.129.16/32', // Azure, wire server
  '100.100.100.200/32', // Alibaba
  '192.0.0.192/32', // Oracle Classic
  'fd00:c1::a9fe:a9fe/128', // Oracle
  '169.254.0.23/32', // Tencent
  '169.254.42.42/32', // Scaleway
  'fd00:42::42/128', // Scaleway
  'fe80::a9fe:a9fe/128', // OpenStack
].map((text) => ipaddr.parseCIDR(text));

/**
 * A network in CIDR notation, such as `10.1.0.0/16` or `fd00::/8`, with its address in full. Null for any other text.
 */
export function parseCidr(text: string): Cidr | null {
  const [address = ''] = text.split('/');
  return isIP(address) !== 0 && ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : null;
}

/**
 * Allows public unicast addresses and those in `allowed`. A cloud's metadata address is allowed only by a network of
 * that one address. Every special range is refused: private, loopback, link-local, shared (CGNAT), multicast,
 * documentation, benchmarking, reserved, and the IPv6 ranges that embed an IPv4 address (mapped ones are judged by that
 * address; translated and tunneled ones are refused).
 */
export function createAddressGuard(allowed: readonly Cidr[]): AddressGuard {
  return {
    allows(text) {
      if (isIP(text) === 0 || !ipaddr.isValid(text)) return false;
      const address = ipaddr.process(text);
      const opening = allowed.filter((cidr) => isIn(address, cidr));
      if (CLOUD_METADATA.some((cidr) => isIn(address, cidr))) return opening.some(isOneAddress);
      return opening.length > 0 || isPublic(address);
    },
  };
}

function isIn(address: Address, cidr: Cidr): boolean {
  return address.kind() === cidr[0].kind() && address.match(cidr);
}

function isOneAddress([address, prefixLength]: Cidr): boolean {
  return prefixLength === address.toByteArray().length * 8;
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  // The library calls every IPv6 address without another name unicast, but only this block is assigned for it.
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST);
}
