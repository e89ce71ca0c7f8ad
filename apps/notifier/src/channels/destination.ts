/** Whether notifications may go to an address; `address` is an IPv4 or IPv6 address as text. */
export type AddressPolicy = (address: string) => boolean;

export const MAX_URL_LENGTH = 2048;

/** Replaces the path of a secret URL in answers. No real path looks like it. */
const MASK = '/***';

/** The URL with everything after the host masked. */
export function maskUrl(url: string): string {
  return `${new URL(url).origin}${MASK}`;
}

/**
 * Why a URL cannot be a destination, for people; null if it can. Checks an IP address in the URL. What a host name
 * resolves to is only checked when something is sent, since that changes.
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
 * The IP address in a URL's host; null for a name. The URL parser has already normalized any form of IPv4 to four
 * numbers.
 */
function addressOf(hostname: string): string | null {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  return /^[\d.]+$/.test(hostname) ? hostname : null;
}
