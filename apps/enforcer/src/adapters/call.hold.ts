import type { TenantId } from '@tollkeeper/kernel';
import type { CallPrices } from '../prices/call.prices.ts';

/** What is known of a call before it is made. */
export interface PlannedCall {
  model: string | null;
  provider: string | null;
  /** The most tokens that it may be answered with. */
  maxOutputTokens: number | undefined;
  /** Bytes that are sent to the model. */
  inputBytes: number | undefined;
  /** What to hold if it cannot be priced. */
  micros: number | undefined;
}

/** Held for a call of which nothing else is known. */
const DEFAULT_HOLD_MICROS = 50_000;
/** More than any model answers with. Far more than this would have no price, so the default would be held. */
const MAX_OUTPUT_TOKENS = 1e9;

/**
 * What to hold for a call: the price of its longest answer and of its input, if they are known. Without the size of the
 * input, at least what its gateway says.
 */
export async function holdOf(
  prices: Pick<CallPrices, 'estimateOf'>,
  tenantId: TenantId,
  { model, provider, maxOutputTokens, inputBytes, micros }: PlannedCall,
): Promise<number> {
  const otherwise = micros ?? DEFAULT_HOLD_MICROS;
  if (model === null || maxOutputTokens === undefined) return otherwise;
  const output = Math.min(maxOutputTokens, MAX_OUTPUT_TOKENS);
  const call = { model, provider: provider ?? undefined, maxOutputTokens: output, inputBytes: inputBytes ?? 0 };
  const estimate = await prices.estimateOf(tenantId, call);
  if (estimate === undefined) return otherwise;
  return inputBytes === undefined ? Math.max(estimate, micros ?? 0) : estimate;
}
