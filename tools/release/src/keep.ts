// Stores the contracts that later releases are checked against, and prints the changed files. `nx release` runs it once
// versions are written.
import { execFileSync } from 'node:child_process';
import { keepOpenApi, keepRecords, keepRequests, pathsIn, writeJson } from './released-contracts.ts';

const root = process.cwd();

function keepProto(): string[] {
  const { proto, releasedProto } = pathsIn(root);
  const image = execFileSync('buf', ['build', proto, '--exclude-source-info', '--output', '-#format=json'], {
    encoding: 'utf8',
  });
  return writeJson(releasedProto, JSON.parse(image));
}

const kept = [...keepRecords(root), ...keepRequests(root), ...keepOpenApi(root), ...keepProto()];
for (const file of kept) console.log(file);
