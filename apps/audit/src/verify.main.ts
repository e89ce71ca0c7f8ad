import { verify } from './verify.command.ts';

process.exitCode = await verify(process.argv.slice(2), (line) => process.stdout.write(`${line}\n`));
