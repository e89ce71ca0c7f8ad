import { randomFillSync } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Prefixes of ids that Tollkeeper creates. */
export type IdPrefix =
  | 'user'
  | 'inv'
  | 'ws'
  | 'key'
  | 'plan'
  | 'price'
  | 'rpr'
  | 'rec'
  | 'bud'
  | 'rsv'
  | 'rule'
  | 'chan'
  | 'alrt'
  | 'req'
  | 'evt'
  | 'run'
  | 'stl'
  | 'aud'
  | 'rep'
  | 'pau'
  | 'rai'
  | 'sil'
  | 'mwin'
  | 'org'
  | 'ntf';

/** Random bytes in stock, each used once: to ask for those of every id separately takes ten times as long. */
const stock = new Uint8Array(4_096);
let used = stock.length;

function randomByte(): number {
  if (used === stock.length) {
    randomFillSync(stock);
    used = 0;
  }
  return stock[used++]!;
}

/** `length` uniformly random characters of `0-9 A-Z a-z`. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    const byte = randomByte();
    // 248 is the largest multiple of 62 in a byte; bytes above it would favour the first characters.
    if (byte < 248) text += BASE62[byte % 62];
  }
  return text;
}

/** `value`, a non-negative safe integer, in base62 with leading zeros to `length` characters. */
export function toBase62(value: number, length: number): string {
  let text = '';
  for (let rest = value; rest > 0; rest = Math.floor(rest / 62)) text = `${BASE62[rest % 62]}${text}`;
  return text.padStart(length, '0');
}

/** A new id such as `rule_4fG…`: the prefix and 20 base62 characters (119 random bits). */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomBase62(20)}`;
}

/** Ids that callers choose: `agent_id`, `run_id`, `event_id`, `settlement_id`. */
export const IDENTIFIER = /^[A-Za-z0-9._:-]{1,128}$/;

/** Ids of prices: those of the table are names of models, such as `mistral/mistral-large-latest`. */
export const PRICE_ID = /^[A-Za-z0-9._:@/-]{1,128}$/;
