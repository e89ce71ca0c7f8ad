import type { Component } from '@tollkeeper/runtime';

/** Output for the person at the terminal. The services' logs go elsewhere, so that it stays readable. */
export interface Terminal {
  /** One line about work that takes long. */
  progress(line: string): void;
  /** The credentials from the first start, which are never shown again. */
  credentials(credentials: FirstCredentials): void;
  /** The line that says that everything works. */
  ready(facts: { url: string; ownerEmail: string; seconds: number }): void;
  /** Why it could not start. */
  failure(error: unknown): void;
  /** Why it stopped without a signal. */
  stopped(reason: string): void;
}

interface FirstCredentials {
  workspace: string;
  ownerEmail: string;
  /** Null if the person has chosen it. */
  ownerPassword: string | null;
  apiKey: string;
  apiKeyFile: string | null;
}

export interface TerminalStreams {
  out: { write(text: string): unknown };
  err: { write(text: string): unknown };
}

export function createTerminal({ out, err }: TerminalStreams): Terminal {
  const line = (text = '') => out.write(`${text}\n`);
  return {
    progress: (text) => line(`  ${text}`),
    credentials({ workspace, ownerEmail, ownerPassword, apiKey, apiKeyFile }) {
      line();
      line('  ┌ Save these: they are shown only once.');
      line(`  │ workspace      ${workspace}`);
      line(`  │ e-mail         ${ownerEmail}`);
      line(`  │ password       ${ownerPassword ?? '(the one in TOLLKEEPER_OWNER_PASSWORD)'}`);
      line(`  │ developer key  ${apiKey}`);
      if (apiKeyFile !== null) line(`  │                also in ${apiKeyFile}`);
      line('  └');
      line();
    },
    ready({ url, ownerEmail, seconds }) {
      line(
        `Tollkeeper is ready at ${url} (${seconds.toFixed(1)} s). ` +
          `Open it in a browser and log in as ${ownerEmail}. The API reference is at ${url}/docs. Press Ctrl-C to stop.`,
      );
    },
    failure(error) {
      err.write(`\nTollkeeper cannot start. ${error instanceof Error ? error.message : String(error)}\n`);
    },
    stopped(reason) {
      err.write(`\nTollkeeper has stopped. ${reason}. Accepted data is kept. Start again: npm start\n`);
    },
  };
}

/** Wraps the component: a failed start ends the process with a sentence instead of a stack trace. */
export function endingReadably(component: Component, end: (reason: unknown) => void): Component {
  let stopping = false;
  return {
    ...component,
    start: () =>
      component.start().catch((error: unknown) => {
        // A start aborted by Ctrl-C is not a failure: the stop in progress ends the process.
        if (stopping) throw error;
        end(error);
      }),
    stop() {
      stopping = true;
      return component.stop();
    },
  };
}
