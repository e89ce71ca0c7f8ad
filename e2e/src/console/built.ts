import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll } from '@jest/globals';

const BUILD = join(import.meta.dirname, '../../../apps/console/scripts/build-web.ts');

/** Builds the pages, unless they are there; before what serves them is started. */
export function useBuiltConsole(): void {
  beforeAll(async () => {
    await promisify(execFile)(process.execPath, [BUILD]);
  });
}
