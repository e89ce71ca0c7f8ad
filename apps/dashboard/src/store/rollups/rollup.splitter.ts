import { halvesOf, isUndivided, type Part } from '../../domain/rollup.parts.ts';
import { rowsApart } from './rollup.codec.ts';
import { hashOfRow } from './row.hash.ts';

/**
 * Bytes of packed rows above which a part is divided. An event rewrites parts of at most five kinds in the hour and the
 * day, and the slots of the workspace: 64 kB. Each tracked label that it has adds a part in both: 24 kB.
 */
const MAX_PART_BYTES = 12 * 1024;
interface PartRows {
  part: Part;
  rows: Uint8Array;
}

/**
 * The rows of a part after an addition. Divided rows have the hashes of their models, even those that this addition
 * divides. Other rows have the names, so most workspaces are read without `names`.
 */
export function* piecesAfter(part: Part, added: (hashed: boolean) => Uint8Array): Generator<PartRows> {
  if (!isUndivided(part)) return yield* piecesOfPart(part, added(true));
  const rows = added(false);
  if (rows.length <= MAX_PART_BYTES) yield { part, rows };
  else yield* piecesOfPart(part, added(true), 0);
}

/** The rows of a part, divided until no part has more than `maxBytes`. */
function* piecesOfPart(part: Part, rows: Uint8Array, maxBytes = MAX_PART_BYTES): Generator<PartRows> {
  if (rows.length <= maxBytes) return yield { part, rows };
  yield* divided(
    part,
    [...rowsApart(rows)].map(({ row, bytes }) => ({ hash: hashOfRow(row), bytes })),
    maxBytes,
  );
}

function* divided(part: Part, rows: { hash: number; bytes: Uint8Array }[], maxBytes: number): Generator<PartRows> {
  const length = rows.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const hashes = rows.map(({ hash }) => hash);
  const halves = length > maxBytes ? halvesOf(part, hashes) : undefined;
  if (halves === undefined)
    return yield {
      part,
      rows: Buffer.concat(
        rows.map(({ bytes }) => bytes),
        length,
      ),
    };
  const { low = [], high = [] } = Object.groupBy(rows, ({ hash }) => (hash < halves[0].end ? 'low' : 'high'));
  yield* divided(halves[0], low, MAX_PART_BYTES);
  yield* divided(halves[1], high, MAX_PART_BYTES);
}
