import { createSocket, type Socket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createNameResolver, type ResolveName } from '../src/delivery/name.resolver.ts';

const NXDOMAIN = 3;
const SERVFAIL = 2;
const A = 1;

/** A DNS server that knows `hooks.test`, fails for `broken.test`, never answers for `dead.test`, and knows no other name. */
async function startDns(): Promise<Socket> {
  const server = createSocket('udp4');
  server.on('message', (query, { port, address }) => {
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const name = question.subarray(1, question.indexOf(0)).toString('latin1');
    if (name.startsWith('dead')) return;
    const known = name.startsWith('hooks');
    const isA = question.readUInt16BE(question.length - 4) === A;
    const code = known ? 0 : name.startsWith('broken') ? SERVFAIL : NXDOMAIN;
    const answers = known && isA ? 1 : 0;
    const header = Buffer.from([query[0]!, query[1]!, 0x81, 0x80 | code, 0, 1, 0, answers, 0, 0, 0, 0]);
    const record = Buffer.from([0xc0, 12, 0, A, 0, 1, 0, 0, 0, 60, 0, 4, 93, 184, 216, 34]);
    server.send(Buffer.concat([header, question, ...(answers ? [record] : [])]), port, address);
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
    const resolver = new Resolver({ timeout: 200, tries: 1 });
    resolver.setServers([`127.0.0.1:${dns.address().port}`]);
    resolve = createNameResolver(resolver);
  });
  afterAll(() => void dns.close());

  it('answers what the DNS says', async () => {
    expect(await resolve('hooks.test')).toEqual(['93.184.216.34']);
  });

  it('knows localhost without the DNS', async () => {
    const addresses = await resolve('localhost');
    expect(addresses.length).toBeGreaterThan(0);
    for (const address of addresses) expect(['127.0.0.1', '::1']).toContain(address);
  });

  it.each([
    ['broken.test', 'ESERVFAIL'],
    ['dead.test', 'ETIMEOUT'],
  ])('says that %s can not be resolved, and does not ask the system', async (name, code) => {
    await expect(resolve(name)).rejects.toMatchObject({ code });
  });

  it('asks the system for what the DNS does not know', async () => {
    await expect(resolve('nowhere.invalid')).rejects.toMatchObject({ syscall: 'getaddrinfo' });
  });
});
