import { formats } from '../text/formats.ts';

const MICROS = 1_000_000;
const MICROS_OF_A_CENT = 10_000;

/** Rounded to cents from one cent on, else with all digits ("$0.0062"). */
export function money(micros: number): string {
  const size = Math.abs(micros);
  const cents = Math.floor(size / MICROS_OF_A_CENT) + (size % MICROS_OF_A_CENT >= MICROS_OF_A_CENT / 2 ? 1 : 0);
  if (size !== 0 && size < MICROS_OF_A_CENT) return exactMoney(micros);
  return `${sign(micros)}$${grouped(Math.floor(cents / 100))}.${String(cents % 100).padStart(2, '0')}`;
}

/** With every micro: "$11.840123", and "$11.84" if there are no more. */
export function exactMoney(micros: number): string {
  const size = Math.abs(micros);
  const digits = String(size % MICROS).padStart(6, '0');
  return `${sign(micros)}$${grouped(Math.floor(size / MICROS))}.${digits.replace(/0{1,4}$/, '')}`;
}

/** For axes and tight places: "$1.2k", "$3.4M". */
export function shortMoney(micros: number): string {
  const dollars = Math.abs(micros) / MICROS;
  if (dollars < 1_000) return money(micros);
  return `${sign(micros)}$${new Intl.NumberFormat(formats.numbers, { notation: 'compact', maximumFractionDigits: 1 }).format(dollars)}`;
}

/** A typed amount ("12", "$1,250.50", "0.000001") in micros; null if it is not valid. */
export function parseMoney(text: string): number | null {
  const plain = text.trim().replace(/^\$\s*/, '');
  const match = /^(\d{1,3}(?:,\d{3})+|\d+)?(?:\.(\d{1,6}))?$/.exec(plain);
  if (match === null || plain === '') return null;
  const [, whole = '0', fraction = ''] = match;
  const micros = BigInt(whole.replaceAll(',', '')) * BigInt(MICROS) + BigInt(fraction.padEnd(6, '0'));
  return micros <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(micros) : null;
}

/** In the form that {@link parseMoney} reads: "12.5", without a sign and without commas. */
export function editableMoney(micros: number): string {
  return exactMoney(micros).replace(/[$,]/g, '');
}

function sign(micros: number): string {
  return micros < 0 ? '−' : '';
}

function grouped(whole: number): string {
  return whole.toLocaleString(formats.numbers);
}
