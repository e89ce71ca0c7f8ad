import { randomBytes, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { type ApiClient, logIn } from '../api.client.ts';
import { type CommandLine, useCommandLine } from '../command.line.ts';
import type { Stage } from '../deployment.ts';
import { type ReportingProxy, startReportingProxy } from '../reporting.proxy.ts';
import { rememberSecret } from '../secrets.ts';

/** What the files of the suites refer to. */
export const SECRETS = {
  OPS_URL: `https://chat.example.com/services/${randomBytes(12).toString('hex')}`,
  OPS_SIGNING: `whsec_${randomBytes(32).toString('base64')}`,
  PAGER_KEY: randomBytes(16).toString('hex'),
  GENIE_KEY: randomUUID(),
};

export interface CommandLineStage extends Stage {
  cli: CommandLine;
  owner(): ApiClient;
  /** Stands between the program and Tollkeeper. */
  proxy(): ReportingProxy;
  /** Runs a command about a file with this text, with the secrets in its environment. */
  withFile(args: string[], text: string, env?: NodeJS.ProcessEnv): ReturnType<CommandLine['run']>;
  /** What all commands about files printed. */
  printed(): string[];
}

/** The built program, with a session of the owner. */
export function useCommandLineStage(stage: Stage): CommandLineStage {
  const { deployment } = stage;
  const cli = useCommandLine();
  const printed: string[] = [];
  let owner: ApiClient;
  let proxy: ReportingProxy;

  beforeAll(async () => {
    Object.values(SECRETS).forEach(rememberSecret);
    owner = await logIn(deployment(), deployment().owner);
    proxy = await startReportingProxy(() => deployment().baseUrl);
    const { email, password } = deployment().owner;
    await cli.outputOf(['login', '--url', proxy.url, '--email', email, '--password-stdin'], { stdin: `${password}\n` });
  });
  afterAll(() => proxy.stop());

  return {
    ...stage,
    cli,
    owner: () => owner,
    proxy: () => proxy,
    printed: () => printed,
    async withFile(args, text, env = SECRETS) {
      const file = join(cli.folder(), 'tollkeeper.yaml');
      await writeFile(file, text);
      const ended = await cli.run([...args, '-f', file], { env });
      printed.push(ended.stdout, ended.stderr);
      return ended;
    },
  };
}
