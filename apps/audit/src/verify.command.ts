import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { moment } from '@tollkeeper/contracts';
import { connectMongo } from '@tollkeeper/mongo';
import { type Logger, mongodbFields } from '@tollkeeper/runtime';
import { z } from 'zod';
import type { Place } from './domain/entry.ts';
import { verifyChain } from './domain/verification.ts';
import { createRecordStore } from './store/record.store.ts';

/** The settings of audit that the command needs. */
export const verifyCommandConfig = z.object(mongodbFields('tollkeeper_audit'));

const USAGE = `Usage: [--workspace WORKSPACE_ID] [--anchors FILE]

Verifies the chain of each workspace's audit records. Prints one line of JSON for each workspace: its last record and
that record's hash, and of a chain that is not whole the first fault. Ends with 1 if there is a fault.
Keep what it prints where nobody can write who can write to the database: with it as --anchors, a later run also finds
a chain that was made anew.`;

const anchorSchema = z.object({
  workspace: z.string(),
  sequence: z.int(),
  hash: z.string().nullable(),
  recorded_at: moment.nullable(),
});

/**
 * The operators' command that verifies the records. Resolves to whether all chains are intact. Throws an error with a
 * readable message, such as for invalid arguments.
 */
export async function runVerifyCommand(
  args: string[],
  deps: { config: z.infer<typeof verifyCommandConfig>; logger: Logger; print: (line: string) => void },
): Promise<boolean> {
  const { config, logger, print } = deps;
  const { workspace: only, anchors: file } = readArgs(args);
  const anchors = file === undefined ? new Map<string, Place>() : await readAnchors(file);
  const mongo = connectMongo({ uri: config.MONGODB_URI, database: config.MONGODB_DATABASE, logger, maxPoolSize: 4 });
  const records = createRecordStore(mongo.connection);
  await mongo.start();
  try {
    let faults = 0;
    for (const workspace of await workspacesOf(records, anchors, only)) {
      const head = await records.head(workspace);
      const fault = await verifyChain({
        entries: records.chain(workspace),
        head,
        headBehind: () => records.head(workspace),
        anchor: anchors.get(workspace),
        now: Date.now,
      });
      if (fault !== null) faults += 1;
      const { sequence = 0, hash = null, recordedAt } = head ?? {};
      print(
        JSON.stringify({
          workspace,
          sequence,
          hash,
          recorded_at: recordedAt?.toISOString() ?? null,
          ok: !fault,
          fault,
        }),
      );
    }
    return faults === 0;
  } finally {
    await mongo.stop();
  }
}

function readArgs(args: string[]): { workspace?: string | undefined; anchors?: string | undefined } {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({ args, options: { workspace: text, anchors: text } }).values;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : 'Wrong arguments'}\n\n${USAGE}`, { cause: error });
  }
}

/** All workspaces known to the database or the earlier verification, so that a removed chain is noticed. */
async function workspacesOf(
  records: ReturnType<typeof createRecordStore>,
  anchors: ReadonlyMap<string, Place>,
  only: string | undefined,
): Promise<Set<string>> {
  if (only !== undefined) return new Set([only]);
  const all = new Set<string>(anchors.keys());
  for await (const workspace of records.workspaces()) all.add(workspace);
  return all;
}

async function readAnchors(file: string): Promise<Map<string, Place>> {
  const anchors = new Map<string, Place>();
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    if (line.trim() === '') continue;
    const { workspace, sequence, hash, recorded_at } = anchorSchema.parse(JSON.parse(line));
    if (hash === null || recorded_at === null) continue;
    anchors.set(workspace, { sequence, hash, recordedAt: new Date(recorded_at) });
  }
  return anchors;
}
