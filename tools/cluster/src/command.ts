import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const KEPT_CHARACTERS = 2_000;

/** Runs a program to its end. Resolves to its stdout, rejects with the end of its output. */
export async function command(program: string, args: string[], env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const { stdout } = await run(program, args, { env, maxBuffer: MAX_OUTPUT_BYTES }).catch(
    (error: Error & { stdout?: string; stderr?: string }) => {
      const said = `${error.stdout ?? ''}${error.stderr ?? ''}`.trim().slice(-KEPT_CHARACTERS) || error.message;
      throw new Error(`${program} ${args.join(' ').slice(0, 200)} failed: ${said}`, { cause: error });
    },
  );
  return stdout;
}
