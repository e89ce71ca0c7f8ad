/** The sums of one chunk: those of the first name, step by step, then those of the next. */
export interface SavedChunk {
  /** Number of the chunk, counted from the epoch. */
  chunk: number;
  names: string[];
  micros: Float64Array;
}

export interface SavedSteps {
  /** All that are kept, or the changed ones of them. */
  chunks: SavedChunk[];
  /** The numbers of all that are kept. A store may have others, from before the sums began anew. */
  kept: number[];
  /** Approximate memory of all, in bytes. */
  heldBytes: number;
}
