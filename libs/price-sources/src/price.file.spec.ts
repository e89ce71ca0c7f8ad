import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { formatPriceTable } from '@tollkeeper/prices';
import { eventually, testLogger, type TestLogger } from '@tollkeeper/testing';
import { createPriceFile, type OperatorPrices } from './price.file.ts';

const folder = mkdtempSync(join(tmpdir(), 'price-file-'));
afterAll(() => rmSync(folder, { recursive: true }));

let file: string;
let logs: TestLogger;
let inForce: boolean[];
let prices: OperatorPrices;
let files = 0;

beforeEach(() => {
  files += 1;
  file = join(folder, `prices-${files}.json`);
  logs = testLogger();
  inForce = [];
  prices = create(file);
});
afterEach(() => prices.stop());

const create = (path: string | undefined) =>
  createPriceFile({ file: path, logger: logs.logger, onRead: (is) => void inForce.push(is), everyMs: 20 });

/** Replaces the file as a whole, so that no part of it is read. */
function put(text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

const tableOf = (micros: number) =>
  formatPriceTable([
    {
      ...{ id: 'house-1', provider: 'house', match: ['house-1'], kind: 'input', tier: 'default' },
      ...{ micros_per_mtok: micros, source: 'contract' },
    },
  ]);
const litellm = (usd: number) =>
  JSON.stringify({ 'house-1': { litellm_provider: 'house', input_cost_per_token: usd } });

/** The price of a million tokens; undefined without one. */
const priceOf = (model = 'house-1') =>
  prices.price({
    ...{ responseModel: model, requestModel: undefined, provider: undefined, serviceTier: undefined, timeMs: 0 },
    tokens: { input: 1_000_000, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 },
  })?.micros;

describe('the file of the operator', () => {
  it('has prices from the start on, those of a table or of LiteLLM, and others when it changes', async () => {
    put(tableOf(5));
    await prices.start();
    expect([priceOf(), priceOf('other')]).toEqual([5, undefined]);
    put(litellm(7e-12));
    await eventually(() => expect(priceOf()).toBe(7));
    expect(inForce).toEqual([true, true]);
  });

  it('is read again when a volume of Kubernetes replaces it behind a link', async () => {
    const versions = [5, 6].map((micros) => {
      const version = join(folder, `v${micros}-${files}`);
      writeFileSync(version, tableOf(micros));
      return version;
    });
    symlinkSync(versions[0]!, file);
    await prices.start();
    symlinkSync(versions[1]!, `${file}.new`);
    renameSync(`${file}.new`, file);
    await eventually(() => expect(priceOf()).toBe(6));
  });

  it.each([
    ['is no table', '{"rows":[{"id":"m"}]}', /Row 1 \(m\): provider/],
    ['is half written', tableOf(5).slice(0, 40), /JSON/],
    ['is gone', undefined, /ENOENT/],
    ['has more than 16 MiB', `{"rows":[]}${' '.repeat(16 * 1024 * 1024)}`, /16 MiB/],
  ])(
    'keeps its last prices when it %s, says so once, and is read again when it is right',
    async (_what, text, reason) => {
      put(tableOf(5));
      await prices.start();
      if (text === undefined) rmSync(file);
      else put(text);
      await eventually(() => expect(inForce.at(-1)).toBe(false));
      expect(priceOf()).toBe(5);
      put(tableOf(6));
      await eventually(() => expect(priceOf()).toBe(6));
      expect(inForce).toEqual([true, false, true]);
      const errors = logs.lines().filter(({ level }) => level === 'error');
      expect(errors).toHaveLength(1);
      expect(JSON.stringify(errors)).toMatch(reason);
      expect(errors[0]?.['msg']).toContain('Correct the file');
    },
  );

  it.each([
    ['is no table', '{"rows":[{"id":"m"}]}', /PRICES_FILE: .*json: Row 1 \(m\): provider: .*\. Correct the file/],
    ['is no JSON', 'gpt-4o: 5', /It is not JSON: .*\. Correct the file/],
    ['is missing', undefined, /It cannot be read: ENOENT.*\. Correct the file/],
  ])('that %s at the start stops the start, and the error says what to do', async (_what, text, message) => {
    if (text !== undefined) put(text);
    await expect(prices.start()).rejects.toThrow(message);
  });

  it('that is a pipe or a directory stops the start at once, because it could not be read again', async () => {
    execFileSync('mkfifo', [file]);
    for (const path of [file, folder]) {
      await expect(create(path).start()).rejects.toThrow('It is no regular file. Correct the file');
    }
  });

  it('is not needed', async () => {
    prices = create(undefined);
    await prices.start();
    expect([priceOf(), inForce]).toEqual([undefined, []]);
  });
});
