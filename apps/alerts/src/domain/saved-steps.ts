/** The sums of one chunk: those of the first name, step by step, then those of the next. */
export interface SavedChunk {
  /** Number of the chunk, counted from the epoch. */
  chunk: number;
  names: string[];
  micros: Float64Array;
}

/** The chunks with a number from `from` to below `until`: all that are kept, or the changed ones of them. */
export interface SavedSteps {
  chunks: SavedChunk[];
  from: number;
  until: number;
  /** Approximate memory of all, in bytes. */
  heldBytes: number;
}
