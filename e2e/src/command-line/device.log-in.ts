import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';

/** `tollkeeper login` while it waits for a person. */
export interface WaitingLogIn {
  /** `BCDF-GHJK` */
  code: string;
  /** The page that confirms it. */
  page: string;
  /** All that it printed for people so far. */
  printed(): string;
  ended: Promise<number | null>;
}

/** Resolves when the program shows the code. */
export async function waitingLogIn(child: ChildProcess): Promise<WaitingLogIn> {
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (printed += chunk));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const [, page = '', code = ''] = await eventually(() => {
    const found = /^Open (\S+)\s+and confirm .* the code ([A-Z-]{9})\./m.exec(printed);
    expect([printed, found]).toEqual([printed, expect.anything()]);
    return found ?? [];
  });
  return { code, page, printed: () => printed, ended };
}
