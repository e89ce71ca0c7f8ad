import { TollkeeperError } from '../api/api.ts';

/**
 * The problems of an invalid request, by the fields of a form. Null for other errors, and if a problem is of no field:
 * such an error must be shown as a whole.
 */
export function fieldProblems(error: unknown, fields: readonly string[]): ReadonlyMap<string, string> | null {
  if (!(error instanceof TollkeeperError) || error.code !== 'invalid_request' || error.details.length === 0)
    return null;
  const problems = new Map<string, string>();
  for (const { path, message } of error.details) {
    const field = fields.find((each) => path === each || path.startsWith(`${each}.`));
    if (field === undefined) return null;
    const within = path.slice(field.length + 1);
    if (!problems.has(field)) problems.set(field, sentence(within === '' ? message : `${within} ${message}`));
  }
  return problems;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
