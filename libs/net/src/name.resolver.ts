import { lookup, Resolver } from 'node:dns/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** All addresses of a host name, at least one. Rejects if the name has none, or no server answers. */
export type ResolveName = (hostname: string) => Promise<string[]>;

const QUERY_TIMEOUT_MS = 2000;
const QUERY_TRIES = 2;
/**
 * Milliseconds that the second address family may take after the first has answered. Some networks drop the queries of
 * one family.
 */
const SECOND_FAMILY_MS = 500;
const LOCALHOST = /(^|\.)localhost\.?$/i;
/** The error codes for a name that is not in the DNS, and for a machine without DNS. */
const UNKNOWN_TO_DNS = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

/**
 * Queries the DNS directly. The system's look-up has two threads for the whole process, so two domains with silent
 * servers would block all others. The system is only asked for names unknown to the DNS, such as those in a hosts file.
 */
export function createNameResolver(
  dns: Pick<Resolver, 'resolve4' | 'resolve6'> = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES }),
): ResolveName {
  return async (hostname) => {
    if (LOCALHOST.test(hostname)) return lookUp(hostname);
    const questions = [dns.resolve4(hostname), dns.resolve6(hostname)];
    const nothing = Promise.any(questions).then(() => delay(SECOND_FAMILY_MS, [], { ref: false }));
    const answers = await Promise.allSettled(questions.map((question) => Promise.race([question, nothing])));
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []));
    const unclear = failures.find((failure) => !('code' in failure && UNKNOWN_TO_DNS.has(String(failure.code))));
    if (unclear !== undefined) throw unclear;
    return lookUp(hostname);
  };
}

async function lookUp(hostname: string): Promise<string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}
