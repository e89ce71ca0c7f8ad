import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { createLoginApi } from './connection.ts';
import { EXIT, Failure } from './failure.ts';
import type { LogIn } from './login.ts';

const MAX_ATTEMPTS = 3;
const ATTEMPT_MS = 10_000;
const RETRY_MS = 1_000;

/** Logs in as a service account, with a token of its issuer. The session ends within 15 minutes. */
export function withToken(provider: string, idToken: string, workspace: string | undefined): LogIn {
  return async (url) => {
    const api = createLoginApi({ url });
    const { session, user, workspaces } = await api.call('POST /api/v1/auth/oidc/{provider}:exchange', {
      path: { provider },
      body: { id_token: idToken, ...(workspace !== undefined && { workspace }) },
    });
    return { account: { user, workspaces }, session };
  };
}

/** The token of the job or pod, from the first place that has one. */
export async function readToken(
  { file, audience }: { file: string | undefined; audience: string },
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  if (file !== undefined) return readTokenFile(file);
  const given = env['TOLLKEEPER_ID_TOKEN']?.trim();
  if (given) return given;
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: bearer } = env;
  if (url && bearer) return requestFromGithub(url, bearer, audience);
  if (env['GITHUB_ACTIONS']) {
    const message = 'The job may not request a token. Add `permissions: { id-token: write }` to it.';
    throw new Failure(message, EXIT.usage);
  }
  const message =
    'There is no token. Add --oidc-token-file <path> (a pod), set TOLLKEEPER_ID_TOKEN (a GitLab job with id_tokens), or run the command in a job of GitHub Actions.';
  throw new Failure(message, EXIT.usage);
}

async function readTokenFile(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Failure(`--oidc-token-file: ${file} cannot be read (${error.code}).`, EXIT.usage);
  });
  if (text.trim() !== '') return text.trim();
  throw new Failure(`--oidc-token-file: ${file} is empty.`, EXIT.usage);
}

/** As the runner documents it. Messages have no part of the address or the answer, which may contain a secret. */
async function requestFromGithub(url: string, bearer: string, audience: string): Promise<string> {
  const address = URL.parse(url);
  if (address === null) throw new Failure('ACTIONS_ID_TOKEN_REQUEST_URL is not an address.', EXIT.usage);
  address.searchParams.set('audience', audience);
  let problem = '';
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    if (attempt > 1) await wait(RETRY_MS);
    try {
      const headers = { accept: 'application/json', authorization: `bearer ${bearer}` };
      const response = await fetch(address, { headers, redirect: 'error', signal: AbortSignal.timeout(ATTEMPT_MS) });
      const { value } = (await response.json()) as { value?: unknown };
      if (response.ok && typeof value === 'string' && value !== '') return value;
      problem = `it answered ${response.status}`;
    } catch {
      problem = 'it did not answer with JSON in time';
    }
  }
  throw new Failure(`GitHub Actions gave no token: ${problem}. Run the job again.`);
}
