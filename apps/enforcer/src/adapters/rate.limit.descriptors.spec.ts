import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { RateLimitRequestMessage } from '@tollkeeper/contracts';
import { asks, callOf, endedCalls, readDescriptors } from './rate.limit.descriptors.ts';

interface Recorded {
  domain: string;
  descriptors: { entries: { key: string; value: string }[]; hits_addend?: { value?: string } }[];
}

/** What Envoy 1.40 sends for seven calls, in order. */
const recorded = (
  JSON.parse(
    readFileSync(join(import.meta.dirname, '../../test/fixtures/envoy-1.40-rls-requests.json'), 'utf8'),
  ) as Recorded[]
).map(({ domain, descriptors }) => ({
  domain,
  hitsAddend: 0,
  descriptors: descriptors.map(({ entries, hits_addend: hits }) => ({
    entries,
    hitsAddend: hits === undefined ? null : { value: Number(hits.value ?? 0) },
  })),
}));

const newId = () => 'new';
const agentOf = (request: RateLimitRequestMessage) => readDescriptors(request)[0]!.agent;
const of = (agent: string) => recorded.filter((request) => agentOf(request) === agent);

/** A request with one descriptor for each record of entries. */
function request(...descriptors: Record<string, string>[]): RateLimitRequestMessage {
  return { domain: 'any', hitsAddend: 0, descriptors: descriptors.map((entries) => withHits(entries, null)) };
}
function withHits(entries: Record<string, string>, hits: number | null) {
  return {
    entries: Object.entries(entries).map(([key, value]) => ({ key, value })),
    hitsAddend: hits === null ? null : { value: hits },
  };
}

describe('requests that Envoy sent', () => {
  it('before a call ask for it, with all that they say of it', () => {
    const [asked] = readDescriptors(of('json-ok')[0]!);
    expect([asked!.hits, asked!.max_tokens, asks(asked!)]).toEqual([50_000, 400, true]);
    expect(callOf(asked!, newId)).toEqual({
      ...{ requestId: 'call:568a892c-3a1c-4bbc-8381-f092b5739eef', agentId: 'json-ok', runId: 'run-7' },
      ...{ planKey: null, model: 'gpt-4o', provider: null, labels: {} },
    });
  });

  it.each(['json-ok', 'sse-ok'])('after a call (%s) report all of its tokens together, once', (agent) => {
    const [ended, ...others] = endedCalls(readDescriptors(of(agent)[1]!), newId);
    expect(others).toEqual([]);
    expect(ended).toMatchObject({ agentId: agent, model: 'gpt-4o-2026-08-06', isAnswered: true });
    expect(ended!.usage).toEqual({ inputTokens: 1_200, outputTokens: 345, cachedTokens: 1_024 });
  });

  it.each([
    ['broke', false],
    ['upstream-fails', false],
    ['client-gone', true],
    ['slow', false],
  ])('say of a call without usage (%s) whether it was answered: %s', (agent, isAnswered) => {
    expect(endedCalls(readDescriptors(of(agent)[1]!), newId)).toMatchObject([{ isAnswered, usage: {} }]);
  });
});

describe('a descriptor', () => {
  const call = { agent: 'a', call: 'c-1' };

  it('that settles without hits ends nothing, since agentgateway sends it again with the cost', () => {
    expect(endedCalls(readDescriptors(request({ tollkeeper: 'settle', ...call })), newId)).toEqual([]);
    const [without, withCost] = [0, 7].map((hits) => ({
      ...request(),
      descriptors: [withHits({ tollkeeper: 'call', ...call }, hits)],
    }));
    expect(readDescriptors(without!).map(asks)).toEqual([true]);
    expect(readDescriptors(withCost!).map(asks)).toEqual([false]);
    expect(endedCalls(readDescriptors(withCost!), newId)).toMatchObject([{ usage: { micros: 7 } }]);
  });

  it('without hits of its own has those of the request', () => {
    const asked = { ...request({ tollkeeper: 'reserve', ...call }), hitsAddend: 9 };
    expect(readDescriptors(asked)[0]!.hits).toBe(9);
  });

  it('has an unknown entry as a label', () => {
    const [asked] = readDescriptors(request({ tollkeeper: 'reserve', ...call, team: 'growth', 'label.env': 'prod' }));
    expect(asked!.labels).toEqual({ team: 'growth', env: 'prod' });
  });

  it('has an id of its own for a call whose id is no identifier, and a new one only for a check', () => {
    const requestId = (entries: Record<string, string>) =>
      callOf(readDescriptors(request(entries))[0]!, newId).requestId;
    expect(requestId({ tollkeeper: 'reserve', agent: 'a', call: 'ä/1' })).toMatch(/^call:[0-9a-f]{32}$/);
    expect(requestId({ tollkeeper: 'check', agent: 'a' })).toBe('call:new');
  });

  it.each([
    [{ agent: 'a', call: 'c' }, 'tollkeeper is required'],
    [{ tollkeeper: 'spend', agent: 'a', call: 'c' }, 'tollkeeper must be reserve or check or call or settle or done'],
    [{ tollkeeper: 'reserve', call: 'c' }, 'agent is required'],
    [{ tollkeeper: 'reserve', agent: 'a b', call: 'c' }, 'agent must be 1 to 128 characters of A-Z a-z 0-9 . _ : -'],
    [{ tollkeeper: 'reserve', agent: 'a' }, 'call is required'],
    [{ tollkeeper: 'done', agent: 'a', call: '' }, 'call must not be empty'],
    [{ tollkeeper: 'settle', agent: 'a', call: 'c', unit: 'cents' }, 'unit must be micros or'],
    [{ tollkeeper: 'reserve', agent: 'a', call: 'c', format: 'xml' }, 'format must be openai or anthropic'],
    [{ tollkeeper: 'reserve', agent: 'a', call: 'c', 'X Team': 'b' }, 'labels.X Team must be a name'],
  ])('%j is refused by the name of the entry: %s', (entries, message) => {
    const read = () => readDescriptors(request({ tollkeeper: 'check', agent: 'a' }, entries as Record<string, string>));
    expect(read).toThrow(`The request is not valid: descriptors[1].${message}`);
  });

  it.each([
    [
      { max_tokens: '-1', bytes: 'many' },
      { max_tokens: undefined, bytes: undefined },
    ],
    [{ model: 'm'.repeat(129) }, { model: undefined, namesModel: true }],
    [{ model: '' }, { model: undefined, namesModel: false }],
  ])('is taken without what a caller or a model says in a way that does not fit: %j', (entries, read) => {
    const [asked] = readDescriptors(
      request({ tollkeeper: 'reserve', ...call, ...(entries as Record<string, string>) }),
    );
    expect(asked).toMatchObject(read);
  });

  it('of a call that ends says its model, provider and response for all others of the call', () => {
    const ended = (...more: Record<string, string>[]) =>
      endedCalls(
        readDescriptors({
          ...request(),
          descriptors: more.map((one) => withHits({ tollkeeper: 'settle', unit: 'input_tokens', ...call, ...one }, 5)),
        }),
        newId,
      );
    const response = `resp_${'x'.repeat(2_000)}`;
    expect(ended({}, { model: 'gpt-4o', provider: 'azure' }, { response })).toMatchObject([
      { model: 'gpt-4o', provider: 'azure', responseId: response, isAnswered: true, usage: { inputTokens: 15 } },
    ]);
    expect(ended({}, { model: 'm'.repeat(129) })).toMatchObject([{ model: null, isAnswered: true }]);
  });

  it('is refused if the hits of its call are more than an amount can have together', () => {
    const hits = (unit: string, count: number) => withHits({ tollkeeper: 'settle', ...call, unit }, count);
    const ended = (descriptors: ReturnType<typeof hits>[]) =>
      endedCalls(readDescriptors({ ...request(), descriptors }), newId);
    const most = Number.MAX_SAFE_INTEGER;
    expect(ended([hits('micros', most)])).toMatchObject([{ usage: { micros: most } }]);
    const message = `descriptors[1].hits_addend must be at most ${most} together with the other hits of its call`;
    expect(() => ended([hits('micros', most), hits('micros', 1)])).toThrow(message);
    expect(() => ended([hits('input_tokens', most), hits('cached_tokens', 1)])).toThrow(message);
  });

  it('is refused with an entry twice, and with more hits than an amount can have', () => {
    const twice = request({ tollkeeper: 'check', agent: 'a' });
    twice.descriptors[0]!.entries.push({ key: 'agent', value: 'b' });
    expect(() => readDescriptors(twice)).toThrow('descriptors[0].agent is in the descriptor twice');
    const many = { ...request(), descriptors: [withHits({ tollkeeper: 'check', agent: 'a' }, 2 ** 60)] };
    expect(() => readDescriptors(many)).toThrow('descriptors[0].hits_addend must be');
  });
});
