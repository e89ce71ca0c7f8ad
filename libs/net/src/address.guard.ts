import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Says which addresses deliveries may go to (decisions §6). */
export interface AddressGuard {
  /** `address` is an IPv4 or IPv6 address in text; anything else is not allowed. */
  allows(address: string): boolean;
}

type Address = ReturnType<typeof ipaddr.parse>;
export type Cidr = ReturnType<typeof ipaddr.parseCIDR>;

const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/** A network in CIDR notation, such as `10.1.0.0/16` or `fd00::/8`, with its address in full. Null for any other text. */
export function parseCidr(text: string): Cidr | null {
  const [address = ''] = text.split('/');
  return isIP(address) !== 0 && ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : null;
}

/**
 * Allows public unicast addresses and, on top, those in `allowed`. Every special range is refused: private, loopback,
 * link-local, shared (CGNAT), multicast, documentation, benchmarking, reserved, and the IPv6 ranges that carry an IPv4
 * address inside (mapped ones are judged by it, translated and tunnelled ones are refused).
 */
export function createAddressGuard(allowed: readonly Cidr[]): AddressGuard {
  return {
    allows(text) {
      if (isIP(text) === 0 || !ipaddr.isValid(text)) return false;
      const address = ipaddr.process(text);
      return isPublic(address) || allowed.some((cidr) => address.kind() === cidr[0].kind() && address.match(cidr));
    },
  };
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  // The library calls every IPv6 address unicast that has no other name; only this block is given out for it.
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST);
}
