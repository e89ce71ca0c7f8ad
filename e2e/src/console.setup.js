import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const BUILD = fileURLToPath(import.meta.resolve('@tollkeeper/console/build-web'));

/** Builds the console's pages once for all suites, if they are missing or the sources have changed. */
export default async function buildConsole() {
  await promisify(execFile)(process.execPath, [BUILD]);
}
