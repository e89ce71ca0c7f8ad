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
  const call = { model, provider: provider ?? undefined, maxOutputTokens, inputBytes: inputBytes ?? 0 };
  const estimate = await prices.estimateOf(tenantId, call);
  if (estimate === undefined) return otherwise;
  return inputBytes === undefined ? Math.max(estimate, micros ?? 0) : estimate;
}
