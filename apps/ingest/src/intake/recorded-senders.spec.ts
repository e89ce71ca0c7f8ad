import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { IntakeRecord } from '@tollkeeper/call-facts';
import { createOverrideBook, createPriceBook, readBundledTable } from '@tollkeeper/prices';
import { RECEIVED_MS, RECORDED, recorded, type RecordedBody, recordsOf } from '../../test/senders.ts';
import { type CallPrice, withPrice } from './call-price.ts';
import type { CallRecord } from './call-record.ts';
import { readCalls } from './calls.ts';

/** The calls of each body, checked against what the senders had done and what the model had answered. */
const EXPECTED = sections(readFileSync(join(import.meta.dirname, '../../test/fixtures/expected-calls.txt'), 'utf8'));

const PRICES = createPriceBook(readBundledTable());
const SOURCES = { overrides: createOverrideBook([]), prices: PRICES, priceAnew: false };

const read = async (body: RecordedBody) => readCalls(await recordsOf(body), { receivedMs: RECEIVED_MS });

describe('the bodies of real senders', () => {
  it.each(RECORDED.map((body) => [body.file, body] as const))('%s has the expected calls', async (file, body) => {
    const records = await recordsOf(body);
    const { calls } = await readCalls(records, { receivedMs: RECEIVED_MS });
    const shown = calls.map((call) => show(call, records));
    expect([`${records.length} records`, ...shown]).toEqual(EXPECTED.get(file));
  });

  it('have no prompt in any record or call', async () => {
    for (const body of RECORDED) {
      const records = await recordsOf(body);
      const kept = records.map((record) => ({
        ...record,
        attributes: [...record.attributes],
        resource: [...record.resource],
      }));
      expect(JSON.stringify([kept, await readCalls(records, { receivedMs: RECEIVED_MS })])).not.toContain('PROMPTTEXT');
    }
  });

  it('report a call of two instrumentations, and one of a gateway and its spans, under one settlement id', async () => {
    const twice = await read(recorded('openllmetry-0.62.4-and-anthropic-sdk-2.14.0.pb'));
    const ids = twice.calls.map(({ settlementId }) => settlementId);
    expect(new Set(ids).size).toBe(ids.length - 1);

    const ofCallback = await read(recorded('litellm-1.106.2-generic-single.json'));
    const ofSpans = await read(recorded('litellm-1.106.2-otel-v2.pb'));
    expect(ofSpans.calls.map(({ settlementId }) => settlementId)).toContain(ofCallback.calls[0]?.settlementId);
  });

  it('say why their other records are no calls', async () => {
    expect((await read(recorded('vercel-ai-7.0.173-otel.json'))).notCalls).toEqual(
      new Map([
        ['gen_ai.operation.name is that of an operation around calls', 10],
        ['a call inside it has its usage', 1],
      ]),
    );
    expect((await read(recorded('claude-code-traces.json'))).notCalls).toEqual(
      new Map([["Claude Code's log entries report its calls", 2]]),
    );
  });

  it('have blocks only of guards that are not Tollkeeper', async () => {
    const body = recorded('litellm-1.106.2-generic-array-2.json');
    expect((await read(body)).blocks).toEqual([]);
    const { blocks } = await readCalls(await recordsOf(body), { receivedMs: RECEIVED_MS, ownGuards: [] });
    expect(blocks).toMatchObject([{ guard: 'tollkeeper', agentId: 'coder', model: 'gpt-4o', source: 'litellm' }]);
  });

  it('have one id for a block that the callback and the spans of LiteLLM report', async () => {
    const blocksOf = async (file: string) =>
      (await readCalls(await recordsOf(recorded(file)), { receivedMs: RECEIVED_MS, ownGuards: [] })).blocks;
    const [ofCallback] = await blocksOf('litellm-1.106.2-generic.ndjson');
    const [ofSpans] = await blocksOf('litellm-1.106.2-otel-request-span-2.pb');
    expect(ofSpans?.id).toBe(ofCallback?.id);
    expect(ofSpans).toMatchObject({ guard: 'tollkeeper', agentId: 'coder' });
  });
});

/** Outcome, settlement id, agent, run, model, disjoint tokens, and micros: the facts that money depends on. */
function show(call: CallRecord, records: readonly IntakeRecord[]): string {
  const { tokens } = call;
  const shownTokens =
    tokens === undefined
      ? 'no tokens'
      : `${tokens.input}+${tokens.cacheRead}+${tokens.cacheWrite}+${tokens.cacheWrite1h} ` +
        `-> ${tokens.output} (${tokens.reasoning})`;
  const money = showPrice(withPrice(call, SOURCES).price);
  return [
    `${call.outcome} ${call.settlementId.startsWith('rsp:') ? responseOf(call, records) : call.settlementId}`,
    `agent ${call.agentId}, run ${call.runId}, plan ${call.planKey ?? 'none'}`,
    `${call.provider ?? 'unknown'}/${call.model ?? 'unknown'}, ${shownTokens}, ${[money, ...call.flags].join(', ')}`,
  ].join(' | ');
}

function showPrice(price: CallPrice): string {
  switch (price.pricedBy) {
    case 'sender':
      return `${price.micros} micros`;
    case 'override':
    case 'table':
      return `${price.micros} micros by the price of ${price.priceId}`;
    case 'none':
      return 'no price';
  }
}

/** The response id that the settlement id was made of; only its beginning if it is long. */
function responseOf({ settlementId }: CallRecord, records: readonly IntakeRecord[]): string {
  const ids = records.flatMap(({ attributes }) => [attributes.get('gen_ai.response.id'), attributes.get('$.id')]);
  const id = ids.find((each) => typeof each === 'string' && settlementId === `rsp:${sha256(each)}`);
  return `rsp(${String(id).slice(0, 60)})`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

function sections(text: string): ReadonlyMap<string, readonly string[]> {
  const found = text.split(/^# (.+)$/m).slice(1);
  return new Map(
    found.flatMap((part, index) =>
      index % 2 === 0 ? [[part, found[index + 1]!.split('\n').filter((line) => line !== '')] as const] : [],
    ),
  );
}
