import { Command, CommanderError, Option } from 'commander';
import { addAccountCommands } from './commands/account.commands.ts';
import { timeZone } from './commands/command.ts';
import { addCompletionCommands } from './commands/completion.command.ts';
import { addDoctorCommand } from './commands/doctor.command.ts';
import { addEventsCommand } from './commands/events.command.ts';
import { addFileCommands } from './commands/file.commands.ts';
import { addSpendCommands } from './commands/spend.commands.ts';
import { addStatementCommand } from './commands/statement.command.ts';
import { addWorkspaceCommands } from './commands/workspace.commands.ts';
import { EXIT, reportOf, textOf } from './failure.ts';
import { note } from './output.ts';

function createProgram(): Command {
  const program = new Command('tollkeeper')
    .description('Tollkeeper from a terminal and from CI.')
    .version(__VERSION__, '-V, --version', 'print the version')
    .addOption(
      new Option('-w, --workspace <slug>', 'the workspace, instead of the chosen one').env('TOLLKEEPER_WORKSPACE'),
    )
    .addOption(
      new Option('-o, --output <format>', 'for people or for programs').choices(['table', 'json']).default('table'),
    )
    .option(
      '--zone <zone>',
      "time zone of times and of days; yours, and the workspace's for days, if left out",
      timeZone,
    )
    .helpOption('-h, --help', 'print help')
    .addHelpText(
      'after',
      `\nExit codes: ${Object.entries(EXIT)
        .map(([name, code]) => `${code} ${WORDS[name as keyof typeof EXIT]}`)
        .join(', ')}`,
    )
    .showHelpAfterError('Run with --help for the options.')
    .exitOverride();
  addAccountCommands(program);
  addFileCommands(program);
  addSpendCommands(program);
  addStatementCommand(program);
  addWorkspaceCommands(program);
  addEventsCommand(program);
  addDoctorCommand(program);
  addCompletionCommands(program);
  return program;
}

const WORDS: Record<keyof typeof EXIT, string> = {
  ...{ ok: 'done', failed: 'refused or failed', differs: 'diff found differences', usage: 'wrong options or file' },
  ...{ notLoggedIn: 'not logged in', unreachable: 'Tollkeeper is unreachable' },
};

/** Runs the command line, and sets the exit code of the process. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has printed the message, the help or the version.
      process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
      return;
    }
    const report = reportOf(error);
    process.exitCode = report.exitCode;
    note(textOf(report));
  }
}
