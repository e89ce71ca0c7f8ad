/** US dollars, exact: a number of 10⁻³⁰ dollars. Exports have up to 30 decimals, and their sums must be exact. */
export type Usd = bigint;

const DECIMALS = 30;
const NUMBER = /^(-?)(\d{1,12})(?:\.(\d{0,40}))?$/;
const PER_MICRO = 10n ** BigInt(DECIMALS - 6);

/** Null if it is no decimal number. Decimals beyond the 30th are cut off. */
export function parseUsd(text: string): Usd | null {
  const match = NUMBER.exec(text);
  if (match === null) return null;
  const [, sign, whole = '0', decimals = ''] = match;
  const amount = BigInt(whole + decimals.slice(0, DECIMALS).padEnd(DECIMALS, '0'));
  return sign === '-' ? -amount : amount;
}

export function addUsd(a: Usd, b: Usd): Usd {
  return a + b;
}

/** USD micros, rounded half away from zero. */
export function toMicros(usd: Usd): number {
  const size = usd < 0n ? -usd : usd;
  const micros = Number((size + PER_MICRO / 2n) / PER_MICRO);
  return usd < 0n ? -micros : micros;
}
