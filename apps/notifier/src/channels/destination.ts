/** Says which addresses notifications may go to; `address` is an IPv4 or IPv6 address in text. */
export type AddressPolicy = (address: string) => boolean;

export const MAX_URL_LENGTH = 2048;

/** Stands in answers for the path of a URL that is secret. No path that is one in earnest looks like it. */
const MASK = '/***';

/** The URL with everything behind the host masked. */
export function maskUrl(url: string): string {
  return `${new URL(url).origin}${MASK}`;
}

/**
 * What keeps a URL from being a destination, for a person; null when nothing does. An address in it is judged here,
 * what its name leads to only when something is sent, since names change.
 */
export function findUrlProblem(text: string, allowsAddress: AddressPolicy): string | null {
  if (text.length > MAX_URL_LENGTH) return `must be at most ${MAX_URL_LENGTH} characters`;
  const url = URL.parse(text);
  if (url === null || url.protocol !== 'https:') return 'must be an https:// URL';
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or a password';
  if (text.includes('#')) return 'must not have a fragment (#)';
  if (url.pathname.includes('***')) return 'is masked; leave it out to keep it, or send the URL in full';
  const address = addressOf(url.hostname);
  if (address !== null && !allowsAddress(address)) {
    return 'must not lead to a private, loopback, link-local or otherwise special address';
  }
  return null;
}

/**
 * The address that a host name of a URL is; null for a name. The URL parser has written any form of IPv4 with four
 * numbers.
 */
function addressOf(hostname: string): string | null {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  return /^[\d.]+$/.test(hostname) ? hostname : null;
}
