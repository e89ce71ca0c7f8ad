import { createLogger, loadConfig } from '@tollkeeper/runtime';
import { runUserCommand, userCommandConfig } from '../src/user.command.ts';

// Part of the service's image, with the settings of the service: `node user.js reset-link --email …`.
try {
  const logger = createLogger({ service: 'user', level: 'info', destination: process.stderr });
  const config = loadConfig(userCommandConfig, process.env);
  process.stdout.write(await runUserCommand(process.argv.slice(2), { config, logger }));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
