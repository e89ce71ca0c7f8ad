import type { KeyUse } from './workspace-key.ts';

/** Collects uses of keys, so that a key used a thousand times a second costs one write per period. */
export interface KeyUseRecorder {
  record(use: KeyUse): void;
  /**
   * Writes the collected uses. If that fails, they are kept for the next flush and the error is passed on. Only
   * verified keys are recorded, so the number of valid keys bounds the memory.
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
