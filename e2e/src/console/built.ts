import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll } from '@jest/globals';

const BUILD = fileURLToPath(import.meta.resolve('@tollkeeper/console/build-web'));

/** Builds the pages, unless they are there; before what serves them is started. */
export function useBuiltConsole(): void {
  beforeAll(async () => {
    await promisify(execFile)(process.execPath, [BUILD]);
  });
}
