import { verify } from '../src/verify.command.ts';

// Beside the service in its image, with the settings of the service: `node verify.js`.
process.exitCode = await verify(process.argv.slice(2), (line) => process.stdout.write(`${line}\n`));
