import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The path of a Chromium on this machine. Throws if there is none, so that browser tests are never skipped. */
export function findChromium(): string {
  const named = process.env['CHROMIUM_BINARY'];
  if (named !== undefined && named !== '') return named;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
  if (found !== undefined) return found;
  throw new Error(
    `This needs Chromium, and there is none of ${NAMES.join(', ')} on the PATH. ` +
      'Install it (on Debian: apt-get install chromium), or give its path in CHROMIUM_BINARY.',
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
