import { runCommand } from './run.ts';

const output = { print: (line: string) => console.log(line), say: (line: string) => console.error(line) };
process.exitCode = await runCommand(process.argv.slice(2), process.env, output);
