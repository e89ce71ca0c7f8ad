import { createReadStream, openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** A call that was made, with its cost. It is written down before it is settled. */
export interface MadeCall {
  settlementId: string;
  /** The lease or the reservation that it was granted from. */
  from: string;
  agentId: string;
  planKey: string | null;
  amountMicros: number;
  /** What was held for it. */
  heldMicros: number;
}

export type JournalLine =
  | { kind: 'made'; call: MadeCall }
  /** The enforcer has answered how these settlements count. */
  | { kind: 'settled'; outcome: string; settlementIds: string[] }
  /** The gateway was promised that this settlement is durable. */
  | { kind: 'durable'; settlementId: string }
  | { kind: 'lease'; leaseId: string }
  | { kind: 'count'; what: string }
  | { kind: 'problem'; text: string };

/** A file has what was written to it before `kill -9`; a pipe or a buffer of the process might not. */
export function openJournal(file: string): (line: JournalLine) => void {
  const descriptor = openSync(file, 'a');
  return (line) => void writeSync(descriptor, `${JSON.stringify(line)}\n`);
}

export async function readJournal(file: string, read: (line: JournalLine) => void): Promise<void> {
  for await (const line of createInterface({ input: createReadStream(file) })) read(JSON.parse(line) as JournalLine);
}
