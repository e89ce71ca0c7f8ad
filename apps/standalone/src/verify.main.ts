import { runVerifyCommand } from '@tollkeeper/audit';
import { createLogger } from '@tollkeeper/runtime';
import { runOperatorCommand } from './operator.command.ts';

await runOperatorCommand(async ({ mongodbUri }) => {
  const config = { MONGODB_URI: mongodbUri, MONGODB_DATABASE: 'tollkeeper_audit' };
  const logger = createLogger({ service: 'verify', level: 'error', destination: process.stderr });
  const print = (line: string) => process.stdout.write(`${line}\n`);
  if (!(await runVerifyCommand(process.argv.slice(2), { config, logger, print }))) process.exitCode = 1;
});
