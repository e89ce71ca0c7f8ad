import { type Command, Option } from 'commander';
import { apiOf, findWorkspace, type Globals } from '../connection.ts';
import { EXIT, Failure, reportOf } from '../failure.ts';
import { inBrowser } from '../device-login.ts';
import { type LogIn, readPassword, withPassword } from '../login.ts';
import { readToken, withToken } from '../machine-login.ts';
import { clean, nameOf, note, print, printJson, table } from '../output.ts';
import { findSession, removeSession, requireSession, saveSession } from '../session.file.ts';
import { action } from './command.ts';

interface LoginOptions {
  url?: string;
  email?: string;
  passwordStdin?: true;
  oidcProvider?: string;
  oidcTokenFile?: string;
  oidcAudience?: string;
}

export function addAccountCommands(program: Command): void {
  program
    .command('login')
    .description('log in with your browser, and keep the session in your configuration folder')
    .addOption(new Option('--url <url>', 'address of Tollkeeper').env('TOLLKEEPER_URL'))
    .option('--password-stdin', 'read the password from standard input, instead of using the browser')
    .addOption(new Option('--email <email>', 'whose password it is: e-mail or login name').env('TOLLKEEPER_EMAIL'))
    .addOption(
      new Option('--oidc-provider <id>', 'log in as a service account, with a token of this provider').env(
        'TOLLKEEPER_OIDC_PROVIDER',
      ),
    )
    .addOption(
      new Option(
        '--oidc-token-file <path>',
        'file with the token; else from TOLLKEEPER_ID_TOKEN, else from GitHub Actions',
      ).env('TOLLKEEPER_OIDC_TOKEN_FILE'),
    )
    .addOption(
      new Option('--oidc-audience <audience>', 'audience to request from GitHub Actions; the address if left out').env(
        'TOLLKEEPER_OIDC_AUDIENCE',
      ),
    )
    .action(action(logIn));
  program.command('logout').description('end the session, everywhere within 5 seconds').action(action(logOut));
  program.command('whoami').description('show who is logged in, where, and with which roles').action(action(whoAmI));
  program
    .command('use <workspace>')
    .description('choose the workspace of the next commands, by its slug')
    .action(action(use));
}

async function logIn(globals: Globals, options: LoginOptions): Promise<void> {
  const earlier = await findSession().catch(() => null);
  const address = options.url ?? earlier?.url;
  if (address === undefined) throw new Failure('--url is missing: the address of Tollkeeper.', EXIT.usage);
  const way = await wayOf(options, address, globals.workspace);
  const { account, session } = await way(address);
  const slugs = account.workspaces.map(({ slug }) => slug);
  const chosen = globals.workspace ?? earlier?.workspace ?? null;
  const workspace = chosen !== null && slugs.includes(chosen) ? chosen : slugs.length === 1 ? slugs[0]! : null;
  await saveSession({ url: address, email: account.user.email, session, workspace });
  note(`Logged in to ${address} as ${nameOf(account.user)}.`);
  note(workspace === null ? 'Choose a workspace with `tollkeeper use <slug>`.' : `Workspace: ${workspace}`);
}

async function wayOf(options: LoginOptions, url: string, workspace: string | undefined): Promise<LogIn> {
  const { email, passwordStdin, oidcProvider, oidcTokenFile, oidcAudience } = options;
  if (passwordStdin !== undefined) {
    if (email === undefined) throw new Failure('--email is missing: your e-mail or login name.', EXIT.usage);
    return withPassword(email, await readPassword());
  }
  if (oidcProvider !== undefined) {
    const token = await readToken({ file: oidcTokenFile, audience: oidcAudience ?? url.replace(/\/+$/, '') });
    return withToken(oidcProvider, token, workspace);
  }
  if (oidcTokenFile !== undefined) {
    throw new Failure('--oidc-provider is missing: the id of the provider in OIDC_PROVIDERS.', EXIT.usage);
  }
  if (process.env['CI']) {
    const message = 'In CI, nobody can confirm a login. Add --oidc-provider <id>, or --password-stdin.';
    throw new Failure(message, EXIT.usage);
  }
  return inBrowser();
}

async function logOut(): Promise<void> {
  const session = await findSession();
  if (session === null) return note('You are not logged in.');
  try {
    await apiOf(session).call('POST /api/v1/auth/logout');
  } catch (error) {
    const { exitCode } = reportOf(error);
    // Otherwise the session has ended already.
    if (exitCode !== EXIT.notLoggedIn) throw error;
  }
  await removeSession();
  note('Logged out.');
}

async function whoAmI({ output }: Globals): Promise<void> {
  const session = await requireSession();
  const { user, workspaces } = await apiOf(session).call('GET /api/v1/auth/me');
  if (output === 'json') return printJson({ url: session.url, user, workspace: session.workspace, workspaces });
  print(`${clean(user.name)}${user.email === '' ? '' : ` <${clean(user.email)}>`} at ${session.url}\n`);
  const columns = [
    { title: '', cell: ({ slug }: { slug: string }) => (slug === session.workspace ? '*' : '') },
    { title: 'WORKSPACE', cell: ({ slug }: { slug: string }) => slug },
    { title: 'NAME', cell: ({ name }: { name: string }) => name },
    { title: 'ROLE', cell: ({ role }: { role: string }) => role },
    { title: 'TIME ZONE', cell: ({ timezone }: { timezone: string }) => timezone },
  ];
  print(table(workspaces, columns, 'You are a member of no workspace.'));
}

async function use(_globals: Globals, _options: unknown, slug: string): Promise<void> {
  const session = await requireSession();
  findWorkspace(await apiOf(session).call('GET /api/v1/auth/me'), slug);
  await saveSession({ ...session, workspace: slug });
  note(`Workspace: ${slug}`);
}
