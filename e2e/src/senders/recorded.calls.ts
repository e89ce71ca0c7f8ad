import type { RecordedCall } from './record.template.ts';

/** A call of a recorded body. Its id is that of its settlement, or the beginning of the response id as `rsp(…)`. */
export interface ExpectedCall {
  id: string;
  call: Omit<RecordedCall, 'responseId'>;
}

const SPENT = new RegExp(
  [
    '^spent (?<id>\\S+) \\| agent (?<agentId>\\S+), run (?<runId>\\S+), plan \\S+ \\| [^/]+/(?<model>\\S+), ',
    '(?<input>\\d+)\\+(?<cacheRead>\\d+)\\+(?<cacheWrite>\\d+)\\+\\d+ -> (?<output>\\d+) \\((?<reasoning>\\d+)\\), ',
    '(?:(?<micros>\\d+) micros)?(?<others>.*)$',
  ].join(''),
);

/** The calls with an answer that `expected-calls.txt` of ingest's fixtures lists, by body. */
export function recordedCalls(text: string): ReadonlyMap<string, readonly ExpectedCall[]> {
  const sections = text.split(/^# /m).slice(1);
  return new Map(
    sections.map((section) => {
      const [file = '', ...lines] = section.split('\n');
      const calls = lines.flatMap((line) => toCall(line) ?? []).filter(({ call }) => call.tokens.output > 0);
      // Two instrumentations report a call under one id.
      return [file, [...new Map(calls.map((call) => [call.id, call])).values()]];
    }),
  );
}

function toCall(line: string): ExpectedCall | undefined {
  const { groups } = SPENT.exec(line) ?? {};
  if (groups === undefined) return undefined;
  const { id = '', agentId = '', runId = '', model = '', micros, others = '' } = groups;
  const countOf = (kind: string): number => Number(groups[kind]);
  const [cacheRead, cacheWrite, reasoning] = [countOf('cacheRead'), countOf('cacheWrite'), countOf('reasoning')];
  const costMicros = micros === undefined || others.includes('by the price') ? undefined : Number(micros);
  return {
    id,
    call: {
      ...{ agentId, runId, model, costMicros },
      tokens: { input: countOf('input'), output: countOf('output'), cacheRead, cacheWrite, reasoning },
      shape: {
        provider: model.startsWith('claude') ? 'anthropic' : 'openai',
        reports: { cacheRead: cacheRead > 0, cacheWrite: cacheWrite > 0, reasoning: reasoning > 0 },
        hasCost: costMicros !== undefined,
        cachedBeside: others.includes('usage_inferred'),
      },
    },
  };
}
