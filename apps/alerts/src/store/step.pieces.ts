import { mongo } from 'mongoose';
import type { SavedChunk, SavedSteps } from '../domain/saved-steps.ts';

/** In the window of a rule: which pieces it has. Other pieces are leftovers of sums that began anew. They expire. */
export interface StoredSteps {
  /** The numbers of its chunks. */
  kept: number[];
  /** Approximate memory once they are loaded, in bytes. */
  bytes: number;
}

/** A chunk of the sums of a rule. */
interface StepPiece {
  names: string[];
  parts: mongo.Binary[];
}

/** The ids of the pieces of the rule. */
export function stepPieceIds(ruleId: string, { kept }: Pick<StoredSteps, 'kept'>): string[] {
  return kept.map((chunk) => stepPieceId(ruleId, chunk));
}

/** Never the id of a piece with entries of a sum, which ends with a number. */
export function stepPieceId(ruleId: string, chunk: number): string {
  return `${ruleId}/steps ${chunk}`;
}

export function toStepPiece({ names, micros }: SavedChunk): StepPiece {
  return { names, parts: [toBinary(micros)] };
}

/** The sums that were stored. */
export function toSteps(
  ruleId: string,
  { kept, bytes }: StoredSteps,
  pieces: ReadonlyMap<string, { names?: string[]; parts: mongo.Binary[] }>,
): SavedSteps {
  const chunks = kept.flatMap((chunk): SavedChunk[] => {
    const piece = pieces.get(stepPieceId(ruleId, chunk));
    return piece?.names === undefined ? [] : [{ chunk, names: piece.names, micros: fromBinary(piece.parts[0]!) }];
  });
  return { chunks, kept, heldBytes: bytes };
}

/** Float64 in little endian, the byte order of every platform that Node supports. */
export function toBinary(numbers: Float64Array): mongo.Binary {
  return new mongo.Binary(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
}

/** Copies, since the bytes of a document may not be aligned to 8. */
export function fromBinary(binary: mongo.Binary): Float64Array {
  return new Float64Array(Uint8Array.from(binary.value()).buffer);
}
