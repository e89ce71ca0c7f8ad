import { createLogger, loadConfig } from '@tollkeeper/runtime';
import { runVerifyCommand, verifyCommandConfig } from '../src/verify.command.ts';

// Part of the service's image, with the settings of the service: `node verify.js`.
try {
  const logger = createLogger({ service: 'verify', level: 'error', destination: process.stderr });
  const config = loadConfig(verifyCommandConfig, process.env);
  const print = (line: string) => process.stdout.write(`${line}\n`);
  if (!(await runVerifyCommand(process.argv.slice(2), { config, logger, print }))) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
