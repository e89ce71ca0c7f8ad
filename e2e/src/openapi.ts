// Writes docs/openapi.json: the document of the whole public API, as the running product serves it.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newDataDirectory, removeDataDirectory, startStandalone } from '@tollkeeper/testing/standalone-process';

const FILE = join(import.meta.dirname, '../../docs/openapi.json');

const dataDirectory = await newDataDirectory();
const standalone = await startStandalone({ dataDirectory });
try {
  const answer = await fetch(`${standalone.baseUrl}/openapi.json`);
  await writeFile(FILE, `${JSON.stringify(await answer.json(), null, 2)}\n`);
} finally {
  await standalone.end('SIGTERM');
  await removeDataDirectory(dataDirectory);
}
