import { TollkeeperError, TollkeeperUnavailable } from '@tollkeeper/client';
import { cleanLines } from './output.ts';

/** The exit codes that scripts may rely on. `docs/command-line.md` lists them. */
export const EXIT = { ok: 0, failed: 1, differs: 2, usage: 3, notLoggedIn: 4, unreachable: 5 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends the command with a message for people: what is wrong, then what to do. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

export interface FailureReport {
  exitCode: ExitCode;
  code: string;
  message: string;
  details: { path: string; message: string }[];
  request_id: string | null;
}

/** What to say about an error, and how to end. Throws an error that is a fault of this program. */
export function reportOf(error: unknown): FailureReport {
  if (error instanceof Failure) {
    return { exitCode: error.exitCode, code: 'failed', message: error.message, details: [], request_id: null };
  }
  if (!(error instanceof TollkeeperError)) throw error;
  const { code, details, requestId: request_id } = error;
  return { exitCode: exitCodeOf(error), code, message: error.message + wayOut(error), details, request_id };
}

function exitCodeOf(error: TollkeeperError): ExitCode {
  if (isUnreachable(error) || error.code === 'invalid_answer') return EXIT.unreachable;
  return error.status === 401 ? EXIT.notLoggedIn : EXIT.failed;
}

/** A destination of notifications may be unreachable for Tollkeeper, which is then reachable itself. */
function isUnreachable(error: TollkeeperError): boolean {
  return error instanceof TollkeeperUnavailable && !error.code.startsWith('destination_');
}

function wayOut(error: TollkeeperError): string {
  if (error.code === 'invalid_answer') return '';
  if (isUnreachable(error)) return ' Run `tollkeeper doctor` to see what is wrong.';
  if (error.status === 401) return ' Log in with `tollkeeper login`.';
  return error.status === 403 ? ' `tollkeeper whoami` shows your role.' : '';
}

/** The report as lines of text. */
export function textOf({ message, details, request_id }: FailureReport): string {
  const fields = details.map(({ path, message: problem }) => `  ${path === '' ? '' : `${path}: `}${problem}`);
  const request = request_id === null ? [] : [`  Request id: ${request_id}`];
  return cleanLines([`Error: ${message}`, ...fields, ...request].join('\n'));
}
