import type { Api } from '@tollkeeper/client';
import { createLoginApi, fetchAsProgram } from './connection.ts';
import { EXIT, Failure } from './failure.ts';
import type { Session } from './session.file.ts';

/** Proves who the person is. Each way to log in is such a function; the command `login` chooses one. */
export type LogIn = (url: string) => Promise<{ account: Api.Account; session: Session['session'] }>;

const MAX_PASSWORD_BYTES = 4_096;

/** Logs in with a password, which is kept nowhere. */
export function withPassword(email: string, password: string): LogIn {
  return async (url) => {
    let session = '';
    const api = createLoginApi({
      url,
      // The session is only in the cookie of the answer, which the client does not show.
      fetch: async (...request) => {
        const response = await fetchAsProgram(...request);
        session = sessionOf(response.headers) ?? session;
        return response;
      },
    });
    const account = await api.call('POST /api/v1/auth/login', { body: { email, password } });
    if (session === '') {
      throw new Failure(`${url} answered without a session. Check --url: it must be the address of Tollkeeper itself.`);
    }
    return { account, session };
  };
}

function sessionOf(headers: Headers): string | undefined {
  const cookies = headers.getSetCookie().map((cookie) => /^gw_session=([^;]+)/.exec(cookie)?.[1]);
  return cookies.find((value) => value !== undefined);
}

/** The first line of standard input. */
export async function readPassword(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_PASSWORD_BYTES || chunk.includes('\n')) break;
  }
  const [password = ''] = Buffer.concat(chunks).toString('utf8').split(/\r?\n/);
  if (password !== '') return password;
  throw new Failure('--password-stdin: standard input is empty. Pipe the password into the command.', EXIT.usage);
}
