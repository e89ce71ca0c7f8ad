/** Who may make JSON values of large bodies, and when. */
export interface BodyTurns {
  /** Does `work`, which makes a value of `bytes` of text from `sender`, once it is its turn. */
  run<T>(sender: string, bytes: number, work: () => Promise<T>): Promise<T>;
}

interface Turn {
  bytes: number;
  begin: () => void;
}

/**
 * Bounds the heap that the values of large bodies take. A value takes up to twenty times the bytes of its text (`{}` in
 * a list), and is needed until what is valid has been taken from it.
 *
 * All together have `capacityBytes` of text under way, and a body that is larger than this is under way alone. Each
 * sender has one body under way at most, and senders take turns, so a sender with many large bodies lets the others
 * wait for one of them. The caller bounds how many bodies wait.
 */
export function createBodyTurns(capacityBytes: number): BodyTurns {
  /** Never empty lists, by sender. The sender whose turn is longest ago comes first. */
  const waiting = new Map<string, Turn[]>();
  const underWay = new Set<string>();
  let takenBytes = 0;

  function beginNext(): void {
    for (const [sender, turns] of waiting) {
      const [turn, ...later] = turns;
      if (turn === undefined || underWay.has(sender)) continue;
      if (takenBytes > 0 && takenBytes + turn.bytes > capacityBytes) return;
      waiting.delete(sender);
      if (later.length > 0) waiting.set(sender, later);
      underWay.add(sender);
      takenBytes += turn.bytes;
      turn.begin();
    }
  }

  return {
    async run(sender, bytes, work) {
      await new Promise<void>((begin) => {
        const turn = { bytes, begin };
        const turns = waiting.get(sender);
        if (turns === undefined) waiting.set(sender, [turn]);
        else turns.push(turn);
        beginNext();
      });
      try {
        return await work();
      } finally {
        underWay.delete(sender);
        takenBytes -= bytes;
        beginNext();
      }
    },
  };
}
