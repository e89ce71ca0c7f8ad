import { z } from 'zod';

/** What is wrong with one environment variable. Never holds the variable's value. */
export interface ConfigProblem {
  variable: string;
  message: string;
}

/** The environment cannot be used. The message lists every problem, one line each, and says what each variable takes. */
export class ConfigError extends Error {
  readonly problems: ConfigProblem[];

  constructor(problems: ConfigProblem[]) {
    const lines = problems.map(({ variable, message }) => `  ${variable}: ${message}`);
    super(`The configuration is not usable. Correct these environment variables:\n${lines.join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/**
 * Reads a service's settings from `env`.
 *
 * The keys of `schema` are the names of the variables and each field's description says what it takes. A variable
 * set to the empty string counts as not set, as deployment templates produce it. Throws a {@link ConfigError} that
 * holds all problems at once; no value is ever part of it, since any of them may be a secret.
 */
export function loadConfig<S extends z.ZodObject>(schema: S, env: NodeJS.ProcessEnv): z.infer<S> {
  const given: Record<string, string> = {};
  for (const variable of Object.keys(schema.shape)) {
    const value = env[variable];
    if (value !== undefined && value !== '') given[variable] = value;
  }
  const result = schema.safeParse(given);
  if (result.success) return result.data;

  const problems = result.error.issues.map((issue) => {
    const variable = String(issue.path[0] ?? '(environment)');
    const wrong = variable in given || !(variable in schema.shape) ? issue.message : 'is required and not set';
    const takes = describe(schema, variable);
    return { variable, message: takes === undefined ? wrong : `${wrong}. It takes: ${takes}` };
  });
  throw new ConfigError(problems);
}

function describe(schema: z.ZodObject, variable: string): string | undefined {
  const field = schema.shape[variable];
  return field === undefined ? undefined : z.globalRegistry.get(field)?.description;
}
