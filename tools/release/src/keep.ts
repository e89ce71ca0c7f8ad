// Keeps contracts that later releases are checked against, and prints the files that changed. `nx release` runs it once
// versions are written. With the name of a new service it keeps only what that service reads and writes.
import { execFileSync } from 'node:child_process';
import { keepOpenApi, keepRecords, keepRequests, LOG_USERS, pathsIn, writeJson } from './released-contracts.ts';

const root = process.cwd();

function keepProto(): string[] {
  const { proto, releasedProto } = pathsIn(root);
  const image = execFileSync('buf', ['build', proto, '--exclude-source-info', '--output', '-#format=json'], {
    encoding: 'utf8',
  });
  return writeJson(releasedProto, JSON.parse(image));
}

const [service] = process.argv.slice(2);
const kept =
  service === undefined
    ? [...keepRecords(root, Object.keys(LOG_USERS)), ...keepRequests(root), ...keepOpenApi(root), ...keepProto()]
    : keepRecords(root, [service]);
for (const file of kept) console.log(file);
