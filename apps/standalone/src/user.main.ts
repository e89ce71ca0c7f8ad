import { runUserCommand } from '@tollkeeper/identity';
import { createLogger } from '@tollkeeper/runtime';
import { runOperatorCommand } from './operator.command.ts';

await runOperatorCommand(async ({ mongodbUri, config }) => {
  const { PUBLIC_URL: publicUrl = `http://localhost:${config.PORT}` } = config;
  const identity = { MONGODB_URI: mongodbUri, MONGODB_DATABASE: 'tollkeeper_identity', PUBLIC_URL: publicUrl };
  const logger = createLogger({ service: 'user', level: 'info', destination: process.stderr });
  process.stdout.write(await runUserCommand(process.argv.slice(2), { config: identity, logger }));
});
