import { lookup, Resolver } from 'node:dns/promises';

/** All addresses of a host name, at least one. Rejects when it has none, or when nobody says. */
export type ResolveName = (hostname: string) => Promise<string[]>;

const QUERY_TIMEOUT_MS = 2000;
const QUERY_TRIES = 2;
const LOCALHOST = /(^|\.)localhost\.?$/i;
/** The name is not in the DNS, or this machine has none. */
const UNKNOWN_TO_DNS = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

/**
 * Asks the DNS itself, since the system's own look-up has two threads for the whole process: two domains whose
 * servers do not answer would hold up all others. The system is asked for what the DNS does not know, such as the
 * names of a hosts file.
 */
export function createNameResolver(): ResolveName {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });

  return async (hostname) => {
    if (LOCALHOST.test(hostname)) return lookUp(hostname);
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const failure = answers.map((answer) => (answer.status === 'rejected' ? (answer.reason as unknown) : undefined));
    const unclear = failure.find((reason) => !UNKNOWN_TO_DNS.has(codeOf(reason)));
    if (unclear !== undefined) throw unclear as Error;
    return lookUp(hostname);
  };
}

async function lookUp(hostname: string): Promise<string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
