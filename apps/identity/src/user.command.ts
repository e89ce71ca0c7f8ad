import { parseArgs } from 'node:util';
import { createAuditTrail } from '@tollkeeper/audit-trail';
import { systemCause } from '@tollkeeper/contracts';
import { type Clock, systemClock } from '@tollkeeper/kernel';
import { connectMongo } from '@tollkeeper/mongo';
import { type Logger, mongodbFields } from '@tollkeeper/runtime';
import { z } from 'zod';
import { identityConfig } from './config.ts';
import { issueReset, requireUser, toResetUrl } from './domain/password-reset.use-cases.ts';
import { createAccountTrail } from './store/account.trail.ts';
import { createModels } from './store/models.ts';
import { createPasswordResetStore } from './store/password-reset.store.ts';
import { createUserStore } from './store/user.store.ts';

/** The settings of identity that the command needs. */
export const userCommandConfig = z.object({
  ...mongodbFields('tollkeeper_identity'),
  PUBLIC_URL: identityConfig.shape.PUBLIC_URL,
});

const USAGE = `Usage: reset-link --email NAME

Creates a link to set a new password. It works once, within 30 minutes, and ends all sessions of the person.
NAME is the login name or the verified e-mail of the person. Give the link to that person only.`;

/** The service moves the records to the log. */
const leftToTheService = () => Promise.reject(new Error('The service moves the records to the log'));
const OF_THE_SERVICE = { ensureTopic: leftToTheService, append: leftToTheService };

/**
 * The operators' command for users; returns the text to print. Throws an error with a readable message, such as for
 * invalid arguments.
 */
export async function runUserCommand(
  args: string[],
  deps: { config: z.infer<typeof userCommandConfig>; logger: Logger; clock?: Clock },
): Promise<string> {
  const { config, logger, clock = systemClock } = deps;
  const name = readArgs(args);
  const mongo = connectMongo({ uri: config.MONGODB_URI, database: config.MONGODB_DATABASE, logger });
  const models = createModels(mongo.connection);
  const accounts = createAccountTrail(
    models,
    createAuditTrail({ connection: mongo.connection, eventLog: OF_THE_SERVICE, logger, clock }),
  );
  await mongo.start();
  try {
    const user = await requireUser(createUserStore(models, accounts), name);
    const resets = createPasswordResetStore(models, accounts);
    const { token, expiresAt } = await issueReset(
      { resets, clock },
      user.id,
      systemCause('user.password.link', 'operator'),
    );
    const person = user.email === null || user.email === user.loginName ? '' : `, ${user.email}`;
    return [
      `Give this link to ${user.name} (${user.loginName}${person}). It works once, until ${expiresAt.toISOString()}:`,
      toResetUrl(config.PUBLIC_URL, token),
      '',
    ].join('\n');
  } finally {
    await mongo.stop();
  }
}

function readArgs(args: string[]): string {
  let read: { positionals: string[]; values: { email?: string | undefined } };
  try {
    read = parseArgs({ args, allowPositionals: true, options: { email: { type: 'string' } } });
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : 'Wrong arguments'}\n\n${USAGE}`, { cause: error });
  }
  const { positionals, values } = read;
  if (positionals.join() !== 'reset-link' || values.email === undefined) throw new Error(USAGE);
  return values.email;
}
