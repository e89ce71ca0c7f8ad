import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { formatPriceTable } from '@tollkeeper/prices';
import { ConfigError, loadConfig } from '@tollkeeper/runtime';
import { eventually, testLogger, type TestLogger } from '@tollkeeper/testing';
import { trustedAuthority } from '@tollkeeper/testing/authority';
import { z } from 'zod';
import { operatorPriceFields } from './operator.price.fields.ts';
import { createInstallationPrices } from './installation.prices.ts';
import type { OperatorPrices } from './price.file.ts';
import { createPriceUrl, type PriceUrlDeps } from './price.url.ts';

const MIB = 1024 * 1024;
const [EVERY_MS, RETRY_MS] = [86_400_000, 20];

let server: Server;
let url: string;
/** What was asked, and the answer to further questions. */
let asked: IncomingHttpHeaders[];
let answer: (response: ServerResponse) => void;
let logs: TestLogger;
let inForce: boolean[];
let clock: { now: number };
let prices: OperatorPrices;

beforeAll(async () => {
  const { key, cert } = await trustedAuthority();
  server = createServer({ key, cert }, (request, response) => {
    asked.push(request.headers);
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `https://localhost:${(server.address() as AddressInfo).port}/prices.json?token=secret`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked = [];
  logs = testLogger();
  inForce = [];
  clock = { now: 0 };
  prices = create();
});
afterEach(() => prices.stop());

const create = (more: Partial<PriceUrlDeps> = {}) =>
  createPriceUrl({
    ...{ url, logger: logs.logger, onRead: (is) => void inForce.push(is), now: () => clock.now },
    ...{ everyMs: EVERY_MS, retryMs: RETRY_MS, ...more },
  });

const tableOf = (micros: number) =>
  formatPriceTable([
    {
      ...{ id: 'house-1', provider: 'house', match: ['house-1'], kind: 'input', tier: 'default' },
      ...{ micros_per_mtok: micros, source: 'contract' },
    },
  ]);
const serve =
  (body: string | Buffer, headers: Record<string, string> = {}, status = 200) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end(body);

/** The price of a million tokens; undefined without one. */
const priceOf = (model = 'house-1') =>
  prices.price({
    ...{ responseModel: model, requestModel: undefined, provider: undefined, serviceTier: undefined, timeMs: 0 },
    tokens: { input: 1_000_000, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 },
  })?.micros;
const errors = () => logs.lines().filter(({ level }) => level === 'error');

describe("the list at the operator's URL", () => {
  it('has prices when the service has started, in the form of the table or of LiteLLM, compressed or not', async () => {
    answer = serve(gzipSync(tableOf(5)), { 'content-encoding': 'gzip' });
    await prices.start();
    expect([priceOf(), priceOf('other')]).toEqual([5, undefined]);
    answer = serve(JSON.stringify({ 'house-1': { litellm_provider: 'house', input_cost_per_token: 7e-12 } }));
    clock.now += EVERY_MS;
    await eventually(() => expect(priceOf()).toBe(7));
    expect(inForce).toEqual([true, true]);
    expect(JSON.stringify(logs.lines())).not.toContain('secret');
  });

  it('is read once a day, and only if it has changed', async () => {
    let looks = 0;
    prices = create({
      now() {
        looks += 1;
        return clock.now;
      },
    });
    answer = serve(tableOf(5), { etag: '"v1"' });
    await prices.start();
    clock.now += EVERY_MS - 1;
    looks = 0;
    await eventually(() => expect(looks).toBeGreaterThan(3));
    expect(asked).toHaveLength(1);
    answer = serve('', {}, 304);
    clock.now += 1;
    await eventually(() => expect(asked).toHaveLength(2));
    expect(asked.at(-1)?.['if-none-match']).toBe('"v1"');
    await eventually(() => expect(inForce).toHaveLength(2));
    expect([priceOf(), inForce.includes(false)]).toEqual([5, false]);
  });

  it.each<[string, (response: ServerResponse) => void, RegExp]>([
    ['answers 500', serve(tableOf(6), {}, 500), /The server answered 500 instead of 200/],
    ['redirects', serve('', { location: '/elsewhere' }, 302), /not followed. Set PRICES_URL to the final address/],
    ['has no table', serve('{"rows":[{"id":"m"}]}'), /Row 1 \(m\): provider/],
    ['has no prices', serve('{"rows":[]}'), /The list has no prices/],
    ['has a page instead', serve('<!doctype html>'), /JSON/],
    ['has more than 16 MiB', serve(`${tableOf(6)}${' '.repeat(16 * MIB)}`), /more than 16 MiB/],
    [
      'has more than 16 MiB when decompressed',
      serve(gzipSync(`${tableOf(6)}${' '.repeat(16 * MIB)}`), { 'content-encoding': 'gzip' }),
      /more than 16 MiB/,
    ],
    [
      'ends in the middle',
      (response) => void response.write('{"rows":[', () => response.destroy()),
      /PRICES_URL cannot be read/,
    ],
  ])('that %s keeps its last prices, is reported, and is read again within minutes', async (_what, refused, reason) => {
    answer = serve(tableOf(5), { etag: '"v1"' });
    await prices.start();
    answer = refused;
    clock.now += EVERY_MS;
    await eventually(() => expect(inForce).toEqual([true, false]));
    expect(priceOf()).toBe(5);
    expect(JSON.stringify(errors())).toMatch(reason);
    expect(errors()[0]?.['msg']).toContain('the prices that were read before stay in force');
    answer = serve(tableOf(6));
    clock.now += RETRY_MS;
    await eventually(() => expect(priceOf()).toBe(6));
    expect(asked.at(-1)?.['if-none-match']).toBe('"v1"');
    expect(inForce).toEqual([true, false, true]);
  });

  it.each([
    ['does not answer', () => undefined],
    ['never ends', (response: ServerResponse) => void response.write('{"rows":[')],
  ])('that %s is waited for until a deadline', async (_what, endless) => {
    prices = create({ deadlineMs: 200 });
    answer = endless;
    await prices.start();
    expect(inForce).toEqual([false]);
    expect(JSON.stringify(errors())).toMatch(/The list did not arrive within 0\.2 s/);
  });

  it('that cannot be read at the start does not stop it, but a price is refused until it was read', async () => {
    answer = serve('', {}, 503);
    await prices.start();
    expect(priceOf).toThrow("The prices of the operator's list, PRICES_URL, are not known yet");
    expect(errors()[0]?.['msg']).toContain('unset PRICES_URL to use the prices of the release');
    answer = serve(tableOf(5));
    clock.now += RETRY_MS;
    await eventually(() => expect(inForce).toEqual([false, true]));
    expect(priceOf()).toBe(5);
  });

  it('is not waited for when the service stops', async () => {
    answer = () => undefined;
    const started = prices.start();
    await eventually(() => expect(asked).toHaveLength(1));
    await prices.stop();
    await started;
    expect(inForce).toEqual([]);
  });
});

describe('the setting', () => {
  const config = z.object(operatorPriceFields);
  const createFrom = (env: NodeJS.ProcessEnv) =>
    createInstallationPrices({ config: loadConfig(config, env), logger: logs.logger, onRead: () => undefined });
  const refusal = (env: NodeJS.ProcessEnv) => () => loadConfig(config, env);

  it.each([
    ['http://prices.example.com/list.json', 'must be an https:// URL'],
    ['prices.json', 'must be an https:// URL'],
    ['https://user:secret@prices.example.com/', 'must not contain a user name or password'],
  ])('%s is refused', (value, message) => {
    expect(refusal({ PRICES_URL: value })).toThrow(ConfigError);
    expect(refusal({ PRICES_URL: value })).toThrow(message);
    expect(refusal({ PRICES_URL: value })).not.toThrow('secret');
  });

  it('excludes a file of prices', () => {
    const both = { PRICES_FILE: '/prices.json', PRICES_URL: 'https://prices.example.com/list.json' };
    expect(() => createFrom(both)).toThrow('PRICES_URL: is set together with PRICES_FILE; set only one of them');
  });

  it('may be absent: then there are only the prices of the release', async () => {
    prices = createFrom({});
    await prices.start();
    expect(priceOf()).toBeUndefined();
    expect(priceOf('gpt-4o')).toBe(2_500_000);
  });
});
