import ipaddr from 'ipaddr.js';

const CUSTOMER_BITS = 64;

/**
 * What limits count a client by: an IPv4 address, mapped in IPv6 or not, as it is, and of IPv6 the /64, since one
 * customer gets that many addresses and could use a new one for every attempt. What is no address is its own.
 */
export function toClientNetwork(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const network = parsed.toByteArray().slice(0, CUSTOMER_BITS / 8);
  return `${Buffer.from(network).toString('hex')}/${CUSTOMER_BITS}`;
}
