import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadConfig, mongodbUriField, secret } from '@tollkeeper/runtime';
import { z } from 'zod';

/** The command line is wrong; the message says how to correct it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export type Command =
  | { name: 'help' }
  | { name: 'backup'; uri: string; to: string }
  | {
      name: 'restore';
      uri: string;
      from: string;
      /** The service whose database alone is restored; null for everything. */
      only: string | null;
    };

export const USAGE = `Backs up the databases of all services at one point in time, and restores them.

  npm run -s backup -- --to DIRECTORY [--uri URI]
  npm run -s restore -- --from DIRECTORY [--uri URI] [--only SERVICE]

  --to DIRECTORY    a new or empty directory
  --from DIRECTORY  the directory of a backup
  --uri URI         the MongoDB replica set; or set MONGODB_URI, or MONGODB_URI_FILE to the path of a file with it,
                    which keep the password out of the list of processes and the shell's history
  --only SERVICE    restores the database of one service, such as alerts

Services may run during a backup, and must not run during a restore. docs/restore.md explains both.
Exit status: 0 done, 1 failed, 2 the command is wrong.`;

const settings = z.object({
  MONGODB_URI: secret(mongodbUriField().describe('the MongoDB replica set of Tollkeeper; or give --uri')),
});

/** Throws a {@link UsageError}, or a ConfigError about MONGODB_URI. Neither quotes the address. */
export function parseCommand(args: readonly string[], env: NodeJS.ProcessEnv): Command {
  const [name, ...options] = args;
  const values = parse(options);
  if (values.help === true) return { name: 'help' };
  const at = (path: string) => resolve(env['INIT_CWD'] ?? process.cwd(), path);
  const uri = () => {
    const given = values.uri === undefined ? env : { MONGODB_URI: values.uri };
    return loadConfig(settings, given).MONGODB_URI;
  };
  switch (name) {
    case 'backup':
      refuse(name, values, ['from', 'only']);
      if (values.to === undefined) throw new UsageError('Name a new directory for the backup: --to DIRECTORY');
      return { name, to: at(values.to), uri: uri() };
    case 'restore':
      refuse(name, values, ['to']);
      if (values.from === undefined) throw new UsageError('Name the directory of the backup: --from DIRECTORY');
      return { name, from: at(values.from), uri: uri(), only: values.only ?? null };
    default:
      throw new UsageError('Say what to do: backup or restore.');
  }
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        uri: { type: 'string' },
        to: { type: 'string' },
        from: { type: 'string' },
        only: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    // A positional argument may be a part of the address that the shell has split.
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL') throw new UsageError(message);
    throw new UsageError(
      'There is a word without an option before it. Quote addresses and paths with special characters.',
    );
  }
}

function refuse(name: string, values: Record<string, unknown>, options: readonly string[]): void {
  const given = options.find((option) => values[option] !== undefined);
  if (given !== undefined) throw new UsageError(`${name} takes no --${given}.`);
}
