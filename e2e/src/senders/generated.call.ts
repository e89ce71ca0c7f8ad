/** What the body of a sender can say of a call: how its variants may differ. */
export interface CallShape {
  provider: 'openai' | 'anthropic';
  /** Kinds of tokens that the sender reports. */
  reports: { cacheRead: boolean; cacheWrite: boolean; reasoning: boolean };
  /** Whether the sender reports a cost, which then counts. */
  hasCost: boolean;
  /** Input tokens are reported without the cached ones, under names that usually include them. */
  cachedBeside: boolean;
}

/** The facts of a call, from which both the body of a sender and the expected figures follow. */
export interface GeneratedCall {
  /** An identifier, unique among all calls of a run. */
  serial: string;
  agentId: string;
  runId: string;
  model: string;
  /** Disjoint, but reasoning is part of the output. */
  tokens: { input: number; cacheRead: number; cacheWrite: number; output: number; reasoning: number };
  /** What the sender says that the call cost, in billionths of a USD; 0 if it says 0; undefined if it says nothing. */
  costNanos: number | undefined;
  timeMs: number;
}

interface Price {
  input: bigint;
  cacheRead: bigint;
  cacheWrite: bigint;
  output: bigint;
}

/** A model that only the workspace has a price of. */
export const HOUSE_MODEL = 'house-model-7';
export const HOUSE_PRICE = { input: 1_234_567, cacheRead: 98_765, output: 7_654_321 };
const UNKNOWN_MODEL = 'house-model-without-price';

/** Micros for a million tokens, as the providers publish them. */
const PRICES: ReadonlyMap<string, Price> = new Map([
  ['gpt-4o', { input: 2_500_000n, cacheRead: 1_250_000n, cacheWrite: 0n, output: 10_000_000n }],
  ['gpt-4o-mini', { input: 150_000n, cacheRead: 75_000n, cacheWrite: 0n, output: 600_000n }],
  ['gpt-4.1', { input: 2_000_000n, cacheRead: 500_000n, cacheWrite: 0n, output: 8_000_000n }],
  ['o3', { input: 2_000_000n, cacheRead: 500_000n, cacheWrite: 0n, output: 8_000_000n }],
  ['claude-sonnet-4-5', { input: 3_000_000n, cacheRead: 300_000n, cacheWrite: 3_750_000n, output: 15_000_000n }],
  ['claude-haiku-4-5', { input: 1_000_000n, cacheRead: 100_000n, cacheWrite: 1_250_000n, output: 5_000_000n }],
  [
    HOUSE_MODEL,
    {
      input: BigInt(HOUSE_PRICE.input),
      cacheRead: BigInt(HOUSE_PRICE.cacheRead),
      cacheWrite: 0n,
      output: BigInt(HOUSE_PRICE.output),
    },
  ],
]);
const MODELS = {
  openai: ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1', 'o3', 'gpt-4o', 'gpt-4o-mini', HOUSE_MODEL, UNKNOWN_MODEL],
  anthropic: ['claude-sonnet-4-5', 'claude-haiku-4-5'],
};
const AGENTS = 7;
/** Sums of tokens stay below those for which providers have other prices. */
const MAX_TOKENS = 24_000;
const HOUR_MS = 3_600_000;
const MILLION = 1_000_000n;

/** The same call for the same serial, at a time between the two. Both are whole hours. */
export function generateCall(serial: string, shape: CallShape, between: { fromMs: number; toMs: number }) {
  const random = randomOf(serial);
  const below = (end: number): number => Math.floor(random() * end);
  const models = MODELS[shape.provider];
  const cacheRead = shape.reports.cacheRead ? 1 + below(MAX_TOKENS) : 0;
  const cacheWrite = shape.reports.cacheWrite ? 1 + below(MAX_TOKENS) : 0;
  const output = 1 + below(MAX_TOKENS);
  const hour = between.fromMs + HOUR_MS * below((between.toMs - between.fromMs) / HOUR_MS);
  return {
    serial,
    agentId: `agent-${below(AGENTS)}`,
    runId: `run-${serial}`,
    model: models[below(models.length)]!,
    tokens: {
      // Fewer than the cached ones, if only that says that they are not among them.
      input: 1 + below(shape.cachedBeside ? cacheRead + cacheWrite - 1 : MAX_TOKENS),
      ...{ cacheRead, cacheWrite, output },
      reasoning: shape.reports.reasoning ? below(output) : 0,
    },
    // Every fifth cost is 0, which means that the sender does not know it.
    costNanos: shape.hasCost ? (below(5) === 0 ? 0 : 1_000 + below(50_000_000)) : undefined,
    // Inside its hour also after a sender has rounded it to a float.
    timeMs: hour + 1_000 + below(HOUR_MS - 2_000),
  } satisfies GeneratedCall;
}

/** What a call costs in micros, calculated apart from the product; undefined if nobody knows. */
export function expectedMicros({ costNanos = 0, model, tokens }: GeneratedCall): bigint | undefined {
  if (costNanos > 0) return roundHalfUp(BigInt(costNanos), 1_000n);
  const price = PRICES.get(model);
  if (price === undefined) return undefined;
  const kinds = ['input', 'cacheRead', 'cacheWrite', 'output'] as const;
  return roundHalfUp(
    kinds.reduce((sum, kind) => sum + BigInt(tokens[kind]) * price[kind], 0n),
    MILLION,
  );
}

function roundHalfUp(numerator: bigint, denominator: bigint): bigint {
  return (2n * numerator + denominator) / (2n * denominator);
}

/** Numbers from 0 to 1 that follow from the seed: mulberry32. */
export function randomOf(seed: string): () => number {
  let state = hashOf(seed);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash;
}
