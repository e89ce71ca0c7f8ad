import { type Command, Option } from 'commander';
import { EXIT, Failure } from '../failure.ts';
import { print } from '../output.ts';

/** The hidden command that the scripts ask: it prints what can follow these words, one a line. */
const COMPLETE = '__complete';

const SCRIPTS: Record<string, string> = {
  bash: `_tollkeeper() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(tollkeeper ${COMPLETE} -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _tollkeeper tollkeeper`,
  zsh: `#compdef tollkeeper
_tollkeeper() {
  local -a candidates
  candidates=("\${(@f)$(tollkeeper ${COMPLETE} -- "\${(@)words[2,CURRENT-1]}" 2>/dev/null)}")
  compadd -- $candidates || _files
}
compdef _tollkeeper tollkeeper`,
  fish: `complete -c tollkeeper -f -a '(tollkeeper ${COMPLETE} -- (commandline -opc)[2..] 2>/dev/null)'
complete -c tollkeeper -n '__fish_seen_subcommand_from diff apply' -s f -l file -r -F`,
};

export function addCompletionCommands(program: Command): void {
  const shells = Object.keys(SCRIPTS).join(', ');
  program
    .command('completion <shell>')
    .description(`print the completion of a shell: ${shells}`)
    .action((shell: string) => {
      const script = SCRIPTS[shell];
      if (script === undefined) throw new Failure(`completion: ${shell} must be one of ${shells}.`, EXIT.usage);
      print(script);
    });
  program.command(`${COMPLETE} [words...]`, { hidden: true }).action((words: string[]) => {
    const found = candidates(program, words);
    if (found.length > 0) print(found.join('\n'));
  });
}

/** What can follow the words: subcommands and options, or the values of an option that waits for one. */
function candidates(program: Command, words: readonly string[]): string[] {
  const command = words.reduce((found, word) => subcommand(found, word) ?? found, program);
  const options = [...program.options, ...command.options, new Option('-h, --help')];
  const word = words.at(-1) ?? '';
  const last = options.find(({ short, long }) => word === short || word === long);
  if (last?.required === true) return last.argChoices ?? [];
  const names = command.commands.map((each) => each.name()).filter((name) => name !== COMPLETE);
  return [...names, ...options.flatMap(({ long }) => long ?? [])];
}

function subcommand(command: Command, name: string): Command | undefined {
  return command.commands.find((each) => each.name() === name);
}
