import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TenantId } from '@tollkeeper/kernel';
import { useMongo } from '@tollkeeper/testing';
import { type Entry, entryAfter, type Place, RETENTION_MS } from '../src/domain/entry.ts';
import { facetsOf } from '../src/domain/facets.ts';
import { verifyChain } from '../src/domain/verification.ts';
import { newRecord, newTenant, useAudit } from './audit.stack.ts';

const audit = useAudit(useMongo());

interface Verified {
  code: number;
  lines: { workspace: string; sequence: number; ok: boolean; fault: { kind: string; sequence: number } | null }[];
}

/** Runs the command as an operator does. */
async function verify(...args: string[]): Promise<Verified> {
  const env = { ...process.env, MONGODB_URI: audit.mongo.uri, MONGODB_DATABASE: audit.database, NODE_OPTIONS: '' };
  const run = promisify(execFile)(process.execPath, ['scripts/verify.ts', ...args], { env });
  const { code, stdout } = await run.then(
    ({ stdout }) => ({ code: 0, stdout }),
    (error: { code: number; stdout: string }) => error,
  );
  const lines = stdout.split('\n').filter((line) => line !== '');
  return { code, lines: lines.map((line) => JSON.parse(line) as Verified['lines'][number]) };
}

async function chainOf(length: number): Promise<TenantId> {
  const tenantId = newTenant();
  await audit.record(Array.from({ length }, (_, at) => newRecord(tenantId, { at: (at + 1) * 1_000 })));
  return tenantId;
}

const records = () => audit.collection('records');
const chains = () => audit.collection('chains');

describe('the command that verifies the records', () => {
  it('finds a chain whole that nobody touched, and says where it ends', async () => {
    const tenantId = await chainOf(5);
    expect(await verify('--workspace', tenantId)).toEqual({
      code: 0,
      lines: [
        {
          workspace: tenantId,
          sequence: 5,
          hash: expect.stringMatching(/^[0-9a-f]{64}$/),
          recorded_at: expect.any(String),
          ok: true,
          fault: null,
        },
      ],
    });
  });

  it.each<[string, (tenantId: TenantId) => Promise<unknown>, { kind: string; sequence: number }]>([
    [
      'a value in it',
      (tenantId) => records().updateOne({ tenantId, sequence: 3 }, { $set: { 'changes.0.to': 'other' } }),
      { kind: 'altered', sequence: 3 },
    ],
    [
      'who did it',
      (tenantId) => records().updateOne({ tenantId, sequence: 1 }, { $set: { 'actor.name': 'Eve' } }),
      { kind: 'altered', sequence: 1 },
    ],
    [
      'its time',
      (tenantId) => records().updateOne({ tenantId, sequence: 5 }, { $set: { occurredAt: new Date(9) } }),
      { kind: 'altered', sequence: 5 },
    ],
    [
      'the lists that it is in',
      (tenantId) => records().updateOne({ tenantId, sequence: 4 }, { $set: { facets: [] } }),
      { kind: 'altered', sequence: 4 },
    ],
    [
      'the record, by removing it',
      (tenantId) => records().deleteOne({ tenantId, sequence: 3 }),
      { kind: 'missing', sequence: 3 },
    ],
    [
      'the first records, by removing them',
      (tenantId) => records().deleteMany({ tenantId, sequence: { $lte: 2 } }),
      { kind: 'missing', sequence: 1 },
    ],
    [
      'the last record, by removing it',
      (tenantId) => records().deleteOne({ tenantId, sequence: 5 }),
      { kind: 'missing', sequence: 5 },
    ],
    [
      'all records, by removing them',
      (tenantId) => records().deleteMany({ tenantId }),
      { kind: 'missing', sequence: 1 },
    ],
    [
      'the end of the chain, by removing it',
      (tenantId) => chains().deleteOne({ _id: tenantId as never }),
      { kind: 'altered', sequence: 5 },
    ],
  ])('names the first record when somebody has changed %s', async (_what, tamper, fault) => {
    const tenantId = await chainOf(5);
    await tamper(tenantId);
    expect(await verify('--workspace', tenantId)).toMatchObject({ code: 1, lines: [{ workspace: tenantId, fault }] });
  });

  it('finds a record that was altered together with its hash', async () => {
    const tenantId = await chainOf(3);
    const stored = await records().findOne({ tenantId, sequence: 2 });
    const before = await records().findOne({ tenantId, sequence: 1 });
    const record = { ...newRecord(tenantId), id: String(stored?._id) };
    const { hash, ...forged } = entryAfter(before as Place | null, record, stored?.['recordedAt'].getTime());
    const { recordedAt, previous, actor, target, changes, occurredAt } = forged;
    const facets = facetsOf(forged);
    const set = { recordedAt, previous, actor, target, changes, hash, facets, occurredAt: new Date(occurredAt) };
    await records().updateOne({ tenantId, sequence: 2 }, { $set: set });
    expect(await verify('--workspace', tenantId)).toMatchObject({
      code: 1,
      lines: [{ fault: { kind: 'altered', sequence: 2 } }],
    });
  });

  describe('with what an earlier run has printed', () => {
    let directory: string;
    beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), 'anchors-'))));
    afterAll(() => rm(directory, { recursive: true }));

    it('finds a chain that was made anew, and one that was removed whole', async () => {
      const anew = await chainOf(2);
      const gone = await chainOf(2);
      const kept = await chainOf(2);
      const anchors = join(directory, 'anchors.jsonl');
      await writeFile(anchors, (await verify()).lines.map((line) => JSON.stringify(line)).join('\n'));
      for (const tenantId of [anew, gone]) {
        await records().deleteMany({ tenantId });
        await chains().deleteOne({ _id: tenantId as never });
      }
      await audit.record([newRecord(anew), newRecord(anew)]);
      await audit.record([newRecord(kept)]);

      const { code, lines } = await verify('--anchors', anchors);
      const of = (tenantId: string) => lines.find(({ workspace }) => workspace === tenantId)?.fault;
      expect([code, of(anew), of(gone), of(kept)]).toMatchObject([
        1,
        { kind: 'altered', sequence: 2 },
        { kind: 'missing', sequence: 1 },
        null,
      ]);
    });
  });
});

describe('a chain whose oldest records have expired', () => {
  const DAY = 86_400_000;
  const tenantId = newTenant();
  const start = Date.parse('2026-01-01T00:00:00.000Z');
  /** One record a day. */
  const chain: Entry[] = [];
  for (let day = 0; day < 10; day += 1) {
    chain.push(entryAfter(chain.at(-1) ?? null, newRecord(tenantId), start + day * DAY));
  }
  const verifyAt = (entries: readonly Entry[], now: number, [head, later] = [chain.at(-1)!, chain.at(-1)!]) =>
    verifyChain({
      entries: (async function* () {
        for (const entry of entries) yield { ...entry, isListed: true };
      })(),
      head,
      headBehind: async () => later,
      now: () => now,
    });
  const atFourthExpiry = start + RETENTION_MS + 3 * DAY + 1;

  it('is whole, whether the clock has removed them already or is about to', async () => {
    for (const removed of [0, 1, 4]) expect(await verifyAt(chain.slice(removed), atFourthExpiry)).toBeNull();
    expect(await verifyAt([], start + RETENTION_MS + 9 * DAY)).toBeNull();
  });

  it('is not, if one is gone before its time', async () => {
    expect(await verifyAt(chain.slice(5), atFourthExpiry)).toMatchObject({ kind: 'missing' });
    expect(await verifyAt([], start + RETENTION_MS + 8 * DAY)).toMatchObject({ kind: 'missing' });
  });

  it('is whole though records come while it is read, but not if its end is set back', async () => {
    const [eighth, ninth, tenth] = [chain[7]!, chain[8]!, chain[9]!];
    for (const later of [ninth, tenth]) {
      expect(await verifyAt(chain.slice(0, 9), start + 9 * DAY, [eighth, later])).toBeNull();
    }
    const setBack = await verifyAt(chain, start + 9 * DAY, [eighth, eighth]);
    expect(setBack).toMatchObject({ kind: 'altered', sequence: 10 });
  });

  it('has its records in the order in which they expire, also if the clock goes back', () => {
    const first = entryAfter(null, newRecord(tenantId), start);
    const second = entryAfter(first, newRecord(tenantId), start - 60_000);
    expect(second.recordedAt.getTime()).toBe(start + 1);
  });
});
