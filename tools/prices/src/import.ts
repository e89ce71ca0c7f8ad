import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BUNDLED_TABLE_FILE, LitellmFileError, PriceTableError } from '@tollkeeper/prices';
import { importFile } from './import-file.ts';
import { UpdateError } from './table-update.ts';

const USAGE = `Brings the prices of the next release up to date.

  npm run prices:import -- --litellm FILE

  FILE  LiteLLM's model_prices_and_context_window.json; tools/prices/README.md says where to get it

Prices that changed end today, and new ones begin. Models that the file does not have keep their prices.`;

try {
  run();
} catch (error) {
  if (!isOfInput(error)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

function run(): void {
  const { values } = parseArgs({ options: { litellm: { type: 'string' } } });
  if (values.litellm === undefined) {
    console.error(USAGE);
    process.exitCode = 1;
    return;
  }
  const { newModels, opened, closed, version } = importFile({
    // npm runs scripts in the folder of the package; INIT_CWD is the user's.
    litellmFile: resolve(process.env['INIT_CWD'] ?? '', values.litellm),
    tableFile: BUNDLED_TABLE_FILE,
    date: new Date().toISOString().slice(0, 10),
  });
  console.log(`New models: ${newModels}. New prices: ${opened}. Ended prices: ${closed}. Version: ${version}.`);
}

/** Whether the options or the file are wrong, and not this program. Errors of Node have a code. */
function isOfInput(error: unknown): error is Error {
  const types = [LitellmFileError, PriceTableError, UpdateError, SyntaxError];
  return error instanceof Error && ('code' in error || types.some((type) => error instanceof type));
}
