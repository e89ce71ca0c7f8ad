import { types } from 'node:util';
import { ConfigError } from '@tollkeeper/runtime';
import { type Command, parseCommand, USAGE, UsageError } from './arguments.ts';
import { backUp } from './backup.ts';
import { Failure } from './failure.ts';
import type { Backup } from './manifest.ts';
import { createProgress } from './progress.ts';
import { restore } from './restore.ts';
import { seconds, sizeOf } from './text.ts';

const LOG_DAYS = 7;
const DAY_MS = 86_400_000;

/** Where lines for the operator go: results, and what is said beside them. */
interface Output {
  print(line: string): void;
  say(line: string): void;
}

/** Runs the command line. Resolves to the exit status; only unexpected errors reject. */
export async function runCommand(args: readonly string[], env: NodeJS.ProcessEnv, output: Output): Promise<number> {
  try {
    await run(parseCommand(args, env), output);
    return 0;
  } catch (error) {
    if (error instanceof UsageError || error instanceof ConfigError) {
      output.say(`${error.message}\n\n${USAGE}`);
      return 2;
    }
    if (!(error instanceof Failure) && !isOfFiles(error)) throw error;
    output.say(error.message);
    return 1;
  }
}

async function run(command: Command, { print, say }: Output): Promise<void> {
  const startedAt = Date.now();
  const progress = createProgress(say);
  switch (command.name) {
    case 'help':
      print(USAGE);
      return;
    case 'backup': {
      const backup = await backUp({ ...command, progress });
      print(`Backed up ${describe(backup)} to ${command.to} in ${seconds(Date.now() - startedAt)}.`);
      print(`It shows all services at ${backup.takenAt}. ${keysOf(backup)}`);
      return;
    }
    case 'restore': {
      const backup = await restore({ ...command, progress });
      print(`Restored ${describe(backup)} in ${seconds(Date.now() - startedAt)}.`);
      print(`They are as they were at ${backup.takenAt}${ageOf(backup)}. ${keysOf(backup)}`);
    }
  }
}

function describe({ collections }: Backup): string {
  const sum = (of: 'documents' | 'bytes' | 'fileBytes') => collections.reduce((total, each) => total + each[of], 0);
  const databases = new Set(collections.map(({ database }) => database)).size;
  const sizes = `${sizeOf(sum('bytes'))}, ${sizeOf(sum('fileBytes'))} compressed`;
  return `${sum('documents')} documents of ${databases} databases (${sizes})`;
}

function keysOf({ channelKeys }: Backup): string {
  if (channelKeys.length === 0) return 'Nothing in it needs a key of CHANNEL_ENCRYPTION_KEYS.';
  return `Its channels and scheduled exports need these keys of CHANNEL_ENCRYPTION_KEYS, which are not in it: ${channelKeys.join(', ')}.`;
}

function ageOf({ takenAt }: Backup): string {
  if (Date.now() - Date.parse(takenAt) < LOG_DAYS * DAY_MS) return '';
  return `. That is more than ${LOG_DAYS} days ago: events that the log no longer has are lost`;
}

/** A full disk, a missing right: the message names the file. */
function isOfFiles(error: unknown): error is Error {
  return types.isNativeError(error) && 'syscall' in error && 'path' in error;
}
