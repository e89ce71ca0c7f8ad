import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll } from '@jest/globals';

const BUILD = fileURLToPath(import.meta.resolve('@tollkeeper/console/build-web'));

/** Builds the pages if they are missing. Call it before starting their server. */
export function useBuiltConsole(): void {
  beforeAll(async () => {
    await promisify(execFile)(process.execPath, [BUILD]);
  });
}
