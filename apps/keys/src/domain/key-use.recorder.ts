import type { KeyUse } from './workspace-key.ts';

/** Gathers uses of keys, so that a key that is used a thousand times a second costs one write a period. */
export interface KeyUseRecorder {
  record(use: KeyUse): void;
  /**
   * Writes what was gathered. What fails to be written is kept for the next flush, and the failure passed on. Its size
   * is bounded by the number of good keys, since only verified keys are recorded.
   */
  flush(): Promise<void>;
}

export function createKeyUseRecorder(write: (uses: KeyUse[]) => Promise<void>): KeyUseRecorder {
  let pending = new Map<string, KeyUse>();

  function record(use: KeyUse): void {
    const known = pending.get(use.keyId);
    if (known === undefined || known.usedAt < use.usedAt) pending.set(use.keyId, use);
  }

  return {
    record,
    async flush() {
      if (pending.size === 0) return;
      const uses = [...pending.values()];
      pending = new Map();
      try {
        await write(uses);
      } catch (error) {
        uses.forEach(record);
        throw error;
      }
    },
  };
}
