import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** The problem with one environment variable. Never contains its value. */
export interface ConfigProblem {
  variable: string;
  message: string;
}

/**
 * The environment cannot be used. The message lists every problem, one line each, and says what each variable expects.
 */
export class ConfigError extends Error {
  readonly problems: ConfigProblem[];

  constructor(problems: ConfigProblem[]) {
    const lines = problems.map(({ variable, message }) => `  ${variable}: ${message}`);
    super(`The configuration is invalid. Correct these environment variables:\n${lines.join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

const secretFields = new WeakSet<z.ZodType>();

/**
 * Marks a setting as secret, so that it may come from the file that `<name>_FILE` names. Call it last on the field of
 * the schema.
 */
export function secret<F extends z.ZodType>(field: F): F {
  secretFields.add(field);
  return field;
}

/** The names of a schema's secret settings. */
export function secretSettings(schema: z.ZodObject): string[] {
  return Object.keys(schema.shape).filter((name) => secretFields.has(schema.shape[name]));
}

/**
 * Reads a service's settings from `env`.
 *
 * The keys of `schema` are the names of the variables, and each field's description says what it expects. An empty
 * variable counts as not set, because deployment templates produce such. A {@link secret} may be in a file instead of
 * its variable: `<name>_FILE` names the file, and a line break at its end is ignored. A `-` before the path says that
 * the file may be missing or empty; then the setting is not set. Throws a {@link ConfigError} with all problems, and
 * never with a value, since any value may be a secret.
 */
export function loadConfig<S extends z.ZodObject>(schema: S, env: NodeJS.ProcessEnv): z.infer<S> {
  const { given, problems } = readVariables(schema, env);
  const result = schema.safeParse(given);
  if (result.success && problems.length === 0) return result.data;

  const reported = new Set(problems.map(({ variable }) => variable.replace(/_FILE$/, '')));
  for (const issue of result.error?.issues ?? []) {
    const variable = String(issue.path[0] ?? '(environment)');
    if (reported.has(variable)) continue;
    const wrong = variable in given || !(variable in schema.shape) ? issue.message : 'is required but not set';
    const takes = describe(schema, variable);
    problems.push({ variable, message: takes === undefined ? wrong : `${wrong}. Expected: ${takes}` });
  }
  throw new ConfigError(problems);
}

/** The text of each variable that is set, or of its file, and the problems with the files. */
function readVariables(schema: z.ZodObject, env: NodeJS.ProcessEnv) {
  const given: Record<string, string> = {};
  const problems: ConfigProblem[] = [];
  const secrets = new Set(secretSettings(schema));
  for (const variable of Object.keys(schema.shape)) {
    const value = env[variable] ?? '';
    const fileVariable = `${variable}_FILE`;
    const file = secrets.has(variable) ? (env[fileVariable] ?? '') : '';
    if (value !== '') given[variable] = value;
    if (file === '') continue;
    if (value !== '') {
      problems.push({ variable: fileVariable, message: `is set together with ${variable}; set only one of them` });
      continue;
    }
    const mayBeMissing = file.startsWith('-');
    try {
      const text = readFileSync(file.replace(/^-/, ''), 'utf8').replace(/\r?\n$/, '');
      if (text !== '') given[variable] = text;
      else if (!mayBeMissing) problems.push({ variable: fileVariable, message: 'names an empty file' });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (mayBeMissing && code === 'ENOENT') continue;
      problems.push({ variable: fileVariable, message: `names a file that cannot be read (${code})` });
    }
  }
  return { given, problems };
}

function describe(schema: z.ZodObject, variable: string): string | undefined {
  const field = schema.shape[variable];
  return field === undefined ? undefined : z.globalRegistry.get(field)?.description;
}
