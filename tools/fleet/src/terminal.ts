import { styleText } from 'node:util';
import { SERVICES } from '@tollkeeper/topology';
import type { Fleet } from './fleet.ts';

/** Output for a person at a terminal. Colors are used only on a terminal (and unless `NO_COLOR` is set). */
export interface Terminal {
  progress(line: string): void;
  /** A line that a replica has printed, with its name. */
  line(replica: string, text: string): void;
  /** A problem that needs attention, among the lines of the services. */
  problem(text: string): void;
  /** One line that says that everything works, and below it what a first start has created. */
  ready(fleet: Fleet, facts: { seconds: number; dataDirectory: string; passwordChosen: boolean }): void;
  failure(error: unknown): void;
}

const COLOURS = ['cyan', 'yellow', 'green', 'magenta', 'blue', 'cyanBright', 'yellowBright', 'greenBright'] as const;
const NAME_WIDTH = Math.max(...SERVICES.map((service) => service.length)) + 2;

export function createTerminal(out: NodeJS.WriteStream, err: NodeJS.WriteStream): Terminal {
  const write = (text = '') => out.write(`${text}\n`);
  const colourOf = (replica: string) => {
    const index = SERVICES.findIndex((service) => replica === service || replica.startsWith(`${service}-`));
    return COLOURS[index] ?? 'white';
  };
  return {
    progress: (text) => write(`  ${text}`),
    line: (replica, text) =>
      write(`${styleText(colourOf(replica), `${replica.padEnd(NAME_WIDTH)}│`, { stream: out })} ${text}`),
    problem: (text) => write(styleText('red', `! ${text}`, { stream: out })),
    ready(fleet, { seconds, dataDirectory, passwordChosen }) {
      const { baseUrl, owner, workspace, apiKey, firstStart } = fleet;
      if (firstStart) {
        write();
        write(`  ┌ Shown only this once; it is also kept in ${dataDirectory}.`);
        write(`  │ workspace      ${workspace}`);
        write(`  │ e-mail         ${owner.email}`);
        write(`  │ password       ${passwordChosen ? '(the one in FIRST_OWNER_PASSWORD)' : owner.password}`);
        write(`  │ developer key  ${apiKey}`);
        write('  └');
        write();
      }
      write(
        `Tollkeeper is ready at ${baseUrl} (${seconds.toFixed(1)} s), each service in a process of its own. Log in as ` +
          `${owner.email} with POST ${baseUrl}/api/v1/auth/login. The API reference is at ${baseUrl}/docs. Press Ctrl-C to stop.`,
      );
    },
    failure(error) {
      err.write(`\nThe fleet can't start. ${error instanceof Error ? error.message : String(error)}\n`);
    },
  };
}
