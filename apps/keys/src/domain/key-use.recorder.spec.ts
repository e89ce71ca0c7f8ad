import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { createKeyUseRecorder } from './key-use.recorder.ts';
import type { KeyUse } from './workspace-key.ts';

const use = (keyId: string, ms: number): KeyUse => ({ tenantId: provenTenantId('ws_1'), keyId, usedAt: new Date(ms) });

describe('the recorder of key uses', () => {
  it('writes each key once a flush, with its last use, in whatever order the uses came', async () => {
    const writes: KeyUse[][] = [];
    const recorder = createKeyUseRecorder(async (uses) => void writes.push(uses));

    for (const ms of [1, 3, 2]) recorder.record(use('a', ms));
    recorder.record(use('b', 1));
    await recorder.flush();

    expect(writes).toEqual([[use('a', 3), use('b', 1)]]);
  });

  it('writes nothing when nothing was used', async () => {
    const writes: KeyUse[][] = [];
    const recorder = createKeyUseRecorder(async (uses) => void writes.push(uses));

    recorder.record(use('a', 1));
    await recorder.flush();
    await recorder.flush();

    expect(writes).toHaveLength(1);
  });

  it('keeps what could not be written, and a newer use over it', async () => {
    const writes: KeyUse[][] = [];
    let broken = true;
    const recorder = createKeyUseRecorder(async (uses) => {
      if (broken) throw new Error('no database');
      writes.push(uses);
    });
    recorder.record(use('a', 1));
    recorder.record(use('b', 1));

    const failing = recorder.flush();
    recorder.record(use('a', 2));
    await expect(failing).rejects.toThrow('no database');
    broken = false;
    await recorder.flush();

    expect(new Set(writes.flat())).toEqual(new Set([use('a', 2), use('b', 1)]));
  });
});
