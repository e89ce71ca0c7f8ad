import { MAX_MICROS } from '@tollkeeper/kernel';

/** An amount that a sender says, more than zero. */
export interface SenderCost {
  /** In integer USD micros, rounded half up: 0 for less than half a micro. */
  micros: number;
  /** In USD, as the sender wrote it. A number is the shortest decimal that stands for it. */
  text: string;
}

const DECIMAL = /^(\d{1,40})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * A decimal number of US dollars. Undefined for zero, which senders also say of models whose price they do not know,
 * and for negative numbers, NaN, other text and more than Tollkeeper's largest amount.
 */
export function usdCost(value: number | string): SenderCost | undefined {
  const text = String(value).trim();
  const match = DECIMAL.exec(text);
  if (!match) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const digits = BigInt(whole + fraction);
  // The amount in micros is digits × 10^scale.
  const scale = Number(exponent) - fraction.length + 6;
  if (digits === 0n || Math.abs(scale) > 400) return undefined;
  const micros = scale >= 0 ? digits * 10n ** BigInt(scale) : halfUp(digits, 10n ** BigInt(-scale));
  return micros > BigInt(MAX_MICROS) ? undefined : { micros: Number(micros), text };
}

/** A whole number of USD micros, as `usdCost`. */
export function microsCost(value: number | string): SenderCost | undefined {
  const micros = Number(value);
  if (!Number.isSafeInteger(micros) || micros <= 0) return undefined;
  const digits = String(micros).padStart(7, '0');
  return { micros, text: `${digits.slice(0, -6)}.${digits.slice(-6)}` };
}

function halfUp(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor);
}
