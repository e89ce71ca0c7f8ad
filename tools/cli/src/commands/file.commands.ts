import type { Command } from 'commander';
import { apiOf, connect, findWorkspace, type Globals } from '../connection.ts';
import { EXIT, textOf } from '../failure.ts';
import { applyAll, inParallel, planAll, type WorkspacePlan } from '../files/apply.ts';
import { jsonSchema } from '../files/document.ts';
import { exportWorkspace } from '../files/export.ts';
import type { Change } from '../files/plan.ts';
import { readDocuments } from '../files/read-documents.ts';
import { createWorkspaceContext } from '../files/workspace-context.ts';
import { clean, note, paint, print, printJson } from '../output.ts';
import { requireSession } from '../session.file.ts';
import { action } from './command.ts';

const MARKS: Record<Change['action'], string> = {
  create: paint('green', '+'),
  update: paint('yellow', '~'),
  remove: paint('red', '-'),
};

interface FileOptions {
  file: string[];
  prune?: boolean;
}

export function addFileCommands(program: Command): void {
  program
    .command('export')
    .description('print the workspace as a file for diff and apply; secrets are references')
    .option('--all', 'all workspaces that you own, as one document each')
    .action(action(exportAll));
  withFiles(program.command('diff'))
    .description('show how workspaces differ from files; ends with 2 if they do')
    .option('--prune', 'what is not in the files differs, too')
    .action(action(diff));
  withFiles(program.command('apply'))
    .description('make workspaces as files say, and create those that do not exist')
    .option('--prune', 'remove what is not in the files, in the sections that they have')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--send-secrets', 'write the secrets of channels again, because they cannot be compared')
    .action(action(apply));
  program
    .command('schema')
    .description('print the JSON schema of the files, for editors')
    .action(() => printJson(jsonSchema()));
}

function withFiles(command: Command): Command {
  const collect = (path: string, paths: string[] = []) => [...paths, path];
  return command.requiredOption('-f, --file <path>', 'a file, a folder of YAML files, or - ; may be repeated', collect);
}

async function exportAll(globals: Globals, { all }: { all?: true }): Promise<void> {
  const session = await requireSession();
  const account = await apiOf(session).call('GET /api/v1/auth/me');
  const readable = account.workspaces.filter(({ role }) => role === 'owner' || role === 'finance');
  const chosen = all === true ? readable : [findWorkspace(account, (await connect(globals)).slug)];
  const texts = await inParallel(chosen, ({ slug }) =>
    exportWorkspace(createWorkspaceContext({ session, account, slug, readSecret: async () => undefined })),
  );
  print(texts.join('---\n').trimEnd());
}

async function diff(globals: Globals, { file, prune = false }: FileOptions): Promise<void> {
  const documents = await readDocuments(file);
  const plans = await planAll(await requireSession(), documents, {
    ...{ prune, sendSecrets: false, needsSecrets: false, onMissing: note },
  });
  if (globals.output === 'json') printJson(plans.map(jsonOf));
  else showPlans(plans, 'No difference.');
  if (plans.some(({ changes }) => changes.length > 0)) process.exitCode = EXIT.differs;
}

interface ApplyOptions extends FileOptions {
  dryRun?: boolean;
  sendSecrets?: boolean;
}

async function apply(globals: Globals, options: ApplyOptions): Promise<void> {
  const { file, prune = false, dryRun = false, sendSecrets = false } = options;
  const documents = await readDocuments(file);
  const plans = await planAll(await requireSession(), documents, {
    ...{ prune, sendSecrets, needsSecrets: !dryRun, onMissing: note },
  });
  const isJson = globals.output === 'json';
  if (!isJson) showPlans(plans, 'Nothing to change.');
  const results = dryRun ? [] : await applyAll(plans.filter(({ changes }) => changes.length > 0));
  if (isJson) {
    const resultOf = new Map(results.map(({ slug, ...result }) => [slug, result]));
    printJson(
      plans.map((plan) => ({
        ...jsonOf(plan),
        ...(resultOf.get(plan.workspace.slug) ?? { applied: 0, failure: null }),
      })),
    );
  } else if (results.length > 0) {
    print(
      `Made ${counted(
        results.reduce((sum, { applied }) => sum + applied, 0),
        'change',
      )}.`,
    );
  }
  const failed = results.flatMap(({ slug, failure }) => (failure === null ? [] : [{ slug, failure }]));
  for (const { slug, failure } of failed) note(`${slug}: ${clean(failure.change)} failed.\n${textOf(failure)}`);
  const [first] = failed;
  if (first === undefined) return;
  note('Correct the cause, and run the same command again: it makes only the changes that are missing.');
  process.exitCode = first.failure.exitCode;
}

function showPlans(plans: readonly WorkspacePlan[], none: string): void {
  const differing = plans.filter(({ changes }) => changes.length > 0);
  for (const { workspace, changes } of differing) {
    print(paint('bold', `workspace ${workspace.slug}`));
    for (const change of changes) print(linesOf(change));
    print('');
  }
  const all = plans.flatMap(({ changes }) => changes);
  const number = (action: Change['action']) => all.filter((change) => change.action === action).length;
  const sums = `${number('create')} to create, ${number('update')} to change, ${number('remove')} to remove`;
  print(all.length === 0 ? none : `${sums}, in ${counted(differing.length, 'workspace')}.`);
  const others = plans.reduce((sum, plan) => sum + plan.others, 0);
  if (others > 0) note(`${counted(others, 'resource')} not in the files. --prune removes what is not in them.`);
}

function linesOf({ action: kind, section, key, fields }: Change): string {
  const changed = fields.map(({ path, from, to, hidden }) => {
    if (hidden) return `      ${path}: differs (the value is not shown)`;
    return `      ${path}: ${valueOf(from)} → ${valueOf(to)}`;
  });
  return [`  ${MARKS[kind]} ${section} ${clean(key)}`, ...changed].join('\n');
}

function valueOf(value: unknown): string {
  return value === undefined ? '(none)' : clean(typeof value === 'string' ? value : JSON.stringify(value));
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function jsonOf({ workspace, changes, others }: WorkspacePlan) {
  const shown = changes.map(({ action: kind, section, key, fields }) => ({ action: kind, section, key, fields }));
  return { workspace: workspace.slug, changes: shown, others };
}
