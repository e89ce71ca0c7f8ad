import { z } from 'zod';

/** The mail server, and how to connect to it. */
export interface SmtpServer {
  host: string;
  port: number;
  /** TLS from the first byte, by STARTTLS before anything else, or not at all. */
  tls: 'implicit' | 'starttls' | 'none';
  auth: { user: string; pass: string } | undefined;
}

const ENCODED = 'with special characters of user and password percent-encoded, such as %40 for @';

const DEFAULT_PORTS = { implicit: 465, starttls: 587, none: 25 };

/** `smtps://user:password@host`, `smtp://user:password@host:587`, `smtp://host:25?tls=none`. */
export const smtpUrl = z
  .url({ protocol: /^smtps?$/, error: `must be an smtp:// or smtps:// address, ${ENCODED}` })
  .transform((text, context): SmtpServer => {
    const wrong = (message: string) => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    };
    const url = new URL(text);
    if (!/^\/?$/.test(url.pathname) || url.hash !== '' || !['', '?tls=none'].includes(url.search)) {
      return wrong(`must be only a scheme, a user and password (${ENCODED}), a host and a port, and ?tls=none at most`);
    }
    if (url.hostname === '') return wrong('must name a host');
    if (url.protocol === 'smtps:' && url.search !== '') return wrong('must not have ?tls=none after smtps://');
    const tls = url.protocol === 'smtps:' ? 'implicit' : url.search === '' ? 'starttls' : 'none';
    if ((url.username === '') !== (url.password === '')) return wrong('must have a user and a password, or neither');
    const auth = url.username === '' ? undefined : decodeAuth(url);
    if (auth === null) return wrong('must have the user and the password percent-encoded');
    const port = url.port === '' ? DEFAULT_PORTS[tls] : Number(url.port);
    // No server listens on port 0.
    if (port === 0) return wrong('must have a port from 1 to 65535, such as 587, or none for the usual one');
    return { host: url.hostname.replace(/^\[|\]$/g, ''), port, tls, auth };
  });

function decodeAuth({ username, password }: URL): SmtpServer['auth'] | null {
  try {
    return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  } catch {
    return null;
  }
}
