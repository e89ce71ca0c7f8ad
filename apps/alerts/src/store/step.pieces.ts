import { mongo } from 'mongoose';
import type { SavedChunk, SavedSteps } from '../domain/saved-steps.ts';

/** In the window of a rule: which pieces it has. Pieces outside the range are leftovers, which expire. */
export interface StoredSteps {
  from: number;
  until: number;
  /** Approximate memory once they are loaded, in bytes. */
  bytes: number;
}

/** A chunk of the sums of a rule. */
interface StepPiece {
  names: string[];
  parts: mongo.Binary[];
}

/** The ids of the pieces of the rule. */
export function stepPieceIds(ruleId: string, { from, until }: Pick<StoredSteps, 'from' | 'until'>): string[] {
  return Array.from({ length: until - from }, (_, index) => stepPieceId(ruleId, from + index));
}

/** Never the id of a piece with entries of a sum, which ends with a number. */
export function stepPieceId(ruleId: string, chunk: number): string {
  return `${ruleId}/steps ${chunk}`;
}

export function toStepPiece({ names, micros }: SavedChunk): StepPiece {
  return { names, parts: [toBinary(micros)] };
}

/** The sums that were stored; a chunk without spend has no piece. */
export function toSteps(
  ruleId: string,
  { from, until, bytes }: StoredSteps,
  pieces: ReadonlyMap<string, { names?: string[]; parts: mongo.Binary[] }>,
): SavedSteps {
  const chunks: SavedChunk[] = [];
  for (let chunk = from; chunk < until; chunk += 1) {
    const piece = pieces.get(stepPieceId(ruleId, chunk));
    if (piece?.names !== undefined) chunks.push({ chunk, names: piece.names, micros: fromBinary(piece.parts[0]!) });
  }
  return { chunks, from, until, heldBytes: bytes };
}

/** Float64 in little endian, the byte order of every platform that Node supports. */
export function toBinary(numbers: Float64Array): mongo.Binary {
  return new mongo.Binary(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
}

/** Copies, since the bytes of a document may not be aligned to 8. */
export function fromBinary(binary: mongo.Binary): Float64Array {
  return new Float64Array(Uint8Array.from(binary.value()).buffer);
}
