import { createSocket, type Socket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createNameResolver, type ResolveName } from './name.resolver.ts';

const NXDOMAIN = 3;
const SERVFAIL = 2;
const AAAA_LATER_MS = 20;
/** A busy machine takes its time. */
const PATIENT_MS = 30_000;
const A = 1;
const AAAA = 28;
const IPV4 = [93, 184, 216, 34];
const IPV6 = [0x26, 0x06, 0x47, 0, 0x47, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x11];

/** What the names of the test resolve to: addresses by family, a failure, or no answer at all. */
const NAMES: Record<string, { code?: number; records?: Record<number, number[]>; silentFor?: number[] }> = {
  hooks: { records: { [A]: IPV4 } },
  both: { records: { [A]: IPV4, [AAAA]: IPV6 } },
  half: { records: { [A]: IPV4 }, silentFor: [AAAA] },
  broken: { code: SERVFAIL },
  dead: { silentFor: [A, AAAA] },
};

/** A DNS server that always answers for IPv4 before IPv6. */
async function startDns(): Promise<Socket> {
  const server = createSocket('udp4');
  server.on('message', (query, { port, address }) => {
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const name = question.subarray(1, 1 + question[0]!).toString('latin1');
    const family = question.readUInt16BE(question.length - 4);
    const { code = 0, records = {}, silentFor = [] } = NAMES[name] ?? { code: NXDOMAIN };
    if (silentFor.includes(family)) return;
    const data = records[family];
    const header = [query[0]!, query[1]!, 0x81, 0x80 | code, 0, 1, 0, data === undefined ? 0 : 1, 0, 0, 0, 0];
    const record = data === undefined ? [] : [0xc0, 12, 0, family, 0, 1, 0, 0, 0, 60, 0, data.length, ...data];
    const answer = Buffer.concat([Buffer.from(header), question, Buffer.from(record)]);
    setTimeout(() => server.send(answer, port, address), family === AAAA ? AAAA_LATER_MS : 0);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describe('the resolver of names', () => {
  let dns: Socket;
  let resolve: ResolveName;

  beforeAll(async () => {
    dns = await startDns();
    resolve = createNameResolver(resolverOf(PATIENT_MS));
  });
  afterAll(() => void dns.close());

  function resolverOf(timeout: number): Resolver {
    const resolver = new Resolver({ timeout, tries: 1 });
    resolver.setServers([`127.0.0.1:${dns.address().port}`]);
    return resolver;
  }

  it('answers what the DNS says', async () => {
    expect(await resolve('hooks.test')).toEqual(['93.184.216.34']);
  });

  it('answers the addresses of both families', async () => {
    expect(await resolve('both.test')).toEqual(['93.184.216.34', '2606:4700:4700::1111']);
  });

  it('answers the addresses of one family when the other gets no answer', async () => {
    const patient = resolverOf(PATIENT_MS);
    expect(await createNameResolver(patient)('half.test')).toEqual(['93.184.216.34']);
    patient.cancel();
  });

  it('knows localhost without the DNS', async () => {
    const addresses = await resolve('localhost');
    expect(addresses.length).toBeGreaterThan(0);
    for (const address of addresses) expect(['127.0.0.1', '::1']).toContain(address);
  });

  it.each([
    ['broken.test', 'ESERVFAIL', PATIENT_MS],
    ['dead.test', 'ETIMEOUT', 200],
  ])('says that %s can not be resolved, and does not ask the system', async (name, code, timeout) => {
    await expect(createNameResolver(resolverOf(timeout))(name)).rejects.toMatchObject({ code });
  });

  it('asks the system for what the DNS does not know', async () => {
    await expect(resolve('nowhere.invalid')).rejects.toMatchObject({ syscall: 'getaddrinfo' });
  });
});
