import ipaddr from 'ipaddr.js';

const CUSTOMER_BITS = 64;

/**
 * The key by which limits count a client: an IPv4 address, even if mapped in IPv6, as it is; of IPv6 the /64, since one
 * customer gets that many addresses and could use a new one for every attempt. Other texts are their own key.
 */
export function toClientNetwork(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const network = parsed.toByteArray().slice(0, CUSTOMER_BITS / 8);
  return `${Buffer.from(network).toString('hex')}/${CUSTOMER_BITS}`;
}
