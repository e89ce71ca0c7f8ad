import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { pythonWith } from '@tollkeeper/testing/python-packages';
import { type DashboardEvent, SPEND_SETTLED } from '../src/domain/event.ts';
import { createFocusLines, toCharges } from '../src/http/focus.ts';

const run = promisify(execFile);
const FOLDER = join(import.meta.dirname, 'focus');
const tenantId = provenTenantId('ws_focus');
const start = Date.parse('2026-10-31T23:10:00.500Z');
const span = { start, end: start + 3 * 3_600_000 };

const call = (afterMs: number, data: DashboardEvent['data']): DashboardEvent => ({
  ...{ tenantId, source: '', eventId: '', type: SPEND_SETTLED, time: start + afterMs },
  data,
});
/** Calls with all facts and with none, without a price, without tokens, on both sides of the end of a month. */
const CALLS = [
  call(1, {
    ...{ amount_micros: 1_500_000, model: 'gpt-4o', provider: 'openai', agent_id: 'planner', plan_key: 'pro' },
    ...{ input_tokens: 1_000, output_tokens: 20, cache_read_tokens: 10, key_id: 'abcdefgh12345678' },
    labels: { team: 'growth', 'cost.center': '=4,2', ключ: '"語"' },
  }),
  call(2, { amount_micros: 0, model: 'house-1', priced_by: 'none', agent_id: 'coder', input_tokens: 10 }),
  call(3, { amount_micros: 12_345, agent_id: 'coder' }),
  call(3_600_000, { amount_micros: 9_007_199_254_740_991, provider: 'anthropic', output_tokens: 9 }),
];

let python: string;
let directory: string | undefined;

beforeAll(async () => {
  python = await pythonWith({
    name: 'focus',
    requirements: join(FOLDER, 'requirements.txt'),
    constraints: join(FOLDER, 'constraints.txt'),
    ignoresPythonVersion: true,
  });
  directory = await mkdtemp(join(tmpdir(), 'tollkeeper-focus-'));
});
afterAll(async () => {
  if (directory !== undefined) await rm(directory, { recursive: true });
});

/** The rules of FOCUS 1.2 that the file breaks, and how many it keeps. */
async function validate(file: string): Promise<{ failed: string[]; passed: number }> {
  const path = join(directory!, 'focus.csv');
  await writeFile(path, file);
  const args = ['--data-file', path, '--validate-version', '1.2', '--block-download'];
  const { stdout } = await run(python, [join(FOLDER, 'validate.py'), ...args], { maxBuffer: 16 * 1024 * 1024 });
  return {
    failed: [...stdout.matchAll(/^\S+ (\S+): FAIL\b/gm)].map(([, rule = '']) => rule).toSorted(),
    passed: [...stdout.matchAll(/^\S+ \S+: PASS\b/gm)].length,
  };
}

async function fileOf(calls: DashboardEvent[]): Promise<string> {
  async function* pages() {
    yield calls;
  }
  const { head, line } = createFocusLines({ id: tenantId, name: 'Demo, Inc.' });
  let file = head;
  for await (const charges of toCharges(pages(), span)) for (const charge of charges) file += line(charge);
  return file;
}

describe('an export in FOCUS', () => {
  it('keeps every rule of FOCUS 1.2 that its validator checks, except that it knows no invoice', async () => {
    const { failed, passed } = await validate(await fileOf(CALLS));
    // The column may be null for charges without an invoice, but the validator cannot tell which ones these are.
    expect(failed).toEqual(['InvoiceId-C-005-C']);
    expect(passed).toBeGreaterThan(130);
  });

  it('would not pass without a mandatory column', async () => {
    const { failed } = await validate((await fileOf(CALLS)).replace('BilledCost', 'x_BilledCost'));
    expect(failed).toContain('BilledCost-C-001-M');
  });
});
