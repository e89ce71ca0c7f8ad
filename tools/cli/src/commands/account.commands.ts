import { type Command, Option } from 'commander';
import { apiOf, findWorkspace, type Globals } from '../connection.ts';
import { EXIT, Failure, reportOf } from '../failure.ts';
import { readPassword, withPassword } from '../login.ts';
import { clean, note, print, printJson, table } from '../output.ts';
import { findSession, removeSession, requireSession, saveSession } from '../session.file.ts';
import { action } from './command.ts';

interface LoginOptions {
  url?: string;
  email?: string;
  passwordStdin?: true;
}

export function addAccountCommands(program: Command): void {
  program
    .command('login')
    .description('log in, and keep the session in your configuration folder')
    .addOption(new Option('--url <url>', 'address of Tollkeeper').env('TOLLKEEPER_URL'))
    .addOption(new Option('--email <email>', 'e-mail or login name').env('TOLLKEEPER_EMAIL'))
    .option('--password-stdin', 'read the password from standard input')
    .action(action(logIn));
  program.command('logout').description('end the session, everywhere within 5 seconds').action(action(logOut));
  program.command('whoami').description('show who is logged in, where, and with which roles').action(action(whoAmI));
  program
    .command('use <workspace>')
    .description('choose the workspace of the next commands, by its slug')
    .action(action(use));
}

async function logIn(globals: Globals, { url, email, passwordStdin }: LoginOptions): Promise<void> {
  const earlier = await findSession().catch(() => null);
  const address = url ?? earlier?.url;
  if (address === undefined) throw new Failure('--url is missing: the address of Tollkeeper.', EXIT.usage);
  if (email === undefined) throw new Failure('--email is missing: your e-mail or login name.', EXIT.usage);
  if (passwordStdin === undefined) {
    throw new Failure('Pipe your password into the command, and add --password-stdin.', EXIT.usage);
  }
  const { account, session } = await withPassword(email, await readPassword())(address);
  const slugs = account.workspaces.map(({ slug }) => slug);
  const chosen = globals.workspace ?? earlier?.workspace ?? null;
  const workspace = chosen !== null && slugs.includes(chosen) ? chosen : slugs.length === 1 ? slugs[0]! : null;
  await saveSession({ url: address, email: account.user.email, session, workspace });
  note(`Logged in to ${address} as ${account.user.email}.`);
  note(workspace === null ? 'Choose a workspace with `tollkeeper use <slug>`.' : `Workspace: ${workspace}`);
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
  print(`${clean(user.name)} <${user.email}> at ${session.url}\n`);
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
