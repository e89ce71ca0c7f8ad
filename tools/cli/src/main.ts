import { runProgram } from './program.ts';

// Such as `tollkeeper audit | head`: whoever reads has enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

await runProgram(process.argv);
