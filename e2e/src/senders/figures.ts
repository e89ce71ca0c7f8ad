import { expectedMicros, type GeneratedCall } from './generated.call.ts';

/** What the dashboard shows of settlements. */
export interface Figures {
  unique_settlements: number;
  total_micros: number;
  input_tokens: number;
  output_tokens: number;
}

const NONE: Figures = { unique_settlements: 0, total_micros: 0, input_tokens: 0, output_tokens: 0 };
const HOUR_MS = 3_600_000;

/** Sums of the calls of a workspace, of which each is added once. */
export interface ExpectedFigures {
  add(call: GeneratedCall, model: string): void;
  readonly total: Figures;
  readonly byAgent: Record<string, Figures>;
  readonly byModel: Record<string, Figures>;
  /** By the ISO time at which an hour starts. */
  readonly byHour: Record<string, Figures>;
  readonly cached: { cache_read_tokens: number; cache_write_tokens: number };
  /** Calls that nobody knows the price of. */
  readonly unpriced: number;
}

export function createExpectedFigures(): ExpectedFigures {
  const [byAgent, byModel, byHour]: Record<string, Figures>[] = [{}, {}, {}];
  let total = NONE;
  const cached = { cache_read_tokens: 0, cache_write_tokens: 0 };
  let unpriced = 0;
  return {
    add(call, model) {
      const { input, cacheRead, cacheWrite, output } = call.tokens;
      const micros = expectedMicros(call);
      const figures: Figures = {
        unique_settlements: 1,
        total_micros: exactNumber(micros ?? 0n),
        ...{ input_tokens: input + cacheRead + cacheWrite, output_tokens: output },
      };
      const hour = new Date(call.timeMs - (call.timeMs % HOUR_MS)).toISOString();
      if (micros === undefined) unpriced += 1;
      cached.cache_read_tokens += cacheRead;
      cached.cache_write_tokens += cacheWrite;
      total = sumOf(total, figures);
      byAgent![call.agentId] = sumOf(byAgent![call.agentId], figures);
      byModel![model] = sumOf(byModel![model], figures);
      byHour![hour] = sumOf(byHour![hour], figures);
    },
    get total() {
      return total;
    },
    ...{ byAgent: byAgent!, byModel: byModel!, byHour: byHour! },
    cached,
    get unpriced() {
      return unpriced;
    },
  };
}

function sumOf(a: Figures = NONE, b: Figures): Figures {
  return {
    unique_settlements: a.unique_settlements + b.unique_settlements,
    total_micros: a.total_micros + b.total_micros,
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
  };
}

function exactNumber(micros: bigint): number {
  const number = Number(micros);
  if (!Number.isSafeInteger(number)) throw new Error(`${micros} micros exceed what a number holds exactly`);
  return number;
}
