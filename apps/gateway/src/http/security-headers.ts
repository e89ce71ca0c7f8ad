import helmet from 'helmet';
import type { EdgeHandler } from './exchange.ts';

/** Answers of the API are data: nothing in them may run, load or be framed. */
const API_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** The page at /docs runs the scripts and styles that this gateway serves, and calls this gateway. */
export const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/**
 * Sets helmet's headers, with a content policy for an API and HSTS only where the public URL is https. They are the
 * same for every request, so helmet computes them once.
 */
export function createSecurityHeaders(publicUrl: string): EdgeHandler {
  const headers = new Map<string, string>([['content-security-policy', API_POLICY]]);
  const recorder = {
    setHeader: (name: string, value: string) => headers.set(name.toLowerCase(), value),
    removeHeader: () => undefined,
  };
  helmet({
    contentSecurityPolicy: false,
    strictTransportSecurity: publicUrl.startsWith('https:'),
    crossOriginResourcePolicy: { policy: 'same-origin' },
  })({} as never, recorder as never, () => undefined);
  const entries = [...headers];

  return (_req, res, next) => {
    for (const [name, value] of entries) res.setHeader(name, value);
    next();
  };
}
