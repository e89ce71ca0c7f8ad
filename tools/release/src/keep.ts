// Run by `nx release` once versions are written: keeps the contracts of this release, which later ones are checked
// against, and prints the files that changed.
import { execFileSync } from 'node:child_process';
import { keepOpenApi, keepRecords, pathsIn, writeJson } from './released-contracts.ts';

const root = process.cwd();

function keepProto(): string[] {
  const { proto, releasedProto } = pathsIn(root);
  const image = execFileSync('buf', ['build', proto, '--exclude-source-info', '--output', '-#format=json'], {
    encoding: 'utf8',
  });
  return writeJson(releasedProto, JSON.parse(image));
}

for (const file of [...keepRecords(root), ...keepOpenApi(root), ...keepProto()]) console.log(file);
