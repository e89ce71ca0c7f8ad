/** Prices in whole USD micros per token, which equals US dollars per million tokens. */
export interface ModelPrice {
  model: string;
  inputMicros: number;
  outputMicros: number;
}

/** Prices for the calls of a trace. A trace names no model, so each agent gets one of these in turn. */
export const MODEL_PRICES: readonly [ModelPrice, ...ModelPrice[]] = [
  { model: 'code-large', inputMicros: 3, outputMicros: 15 },
  { model: 'code-medium', inputMicros: 1, outputMicros: 5 },
  { model: 'code-frontier', inputMicros: 15, outputMicros: 75 },
];

/** The price of one call; exact, since both factors are integers. */
export function priceOf(price: ModelPrice, inputTokens: number, outputTokens: number): number {
  return inputTokens * price.inputMicros + outputTokens * price.outputMicros;
}
