import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand, workspaceRoot } from './command.ts';
import { longLines, MAX_COLUMNS } from './line-lengths.ts';

/** Part of `npm run lint`: lists every document or comment line that is too long, and fails if there is one. */
const NOT_OURS = /^LICENSE|\/gen\/|CHANGELOG\.md$/;

const { exitCode, output } = await runCommand(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'],
  { output: 'capture' },
);
if (exitCode !== 0) throw new Error(`git could not list the files:\n${output}`);
const deleted = await runCommand('git', ['ls-files', '--deleted'], { output: 'capture' });
const gone = new Set(deleted.output.split('\n'));
const files = output.split('\n').filter((path) => path !== '' && !gone.has(path) && !NOT_OURS.test(path));
const found = files.flatMap((path) =>
  longLines(path, readFileSync(join(workspaceRoot, path), 'utf8')).map((line) => `${path}:${line}`),
);
for (const place of found) console.error(`${place}: more than ${MAX_COLUMNS} columns of prose`);
if (found.length > 0) process.exitCode = 1;
