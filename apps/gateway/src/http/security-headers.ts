import helmet from 'helmet';
import type { EdgeResponse } from './exchange.ts';

/** Answers of the API are data: nothing in them may run, load or be framed. */
const API_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** The page at /docs runs the scripts and styles that this gateway serves, and calls this gateway. */
const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** What only matters to a document, not to data. Left out of the API's answers, since each header is paid for with every one. */
const DOCUMENT_HEADERS = [
  'cross-origin-opener-policy',
  'origin-agent-cluster',
  'x-dns-prefetch-control',
  'x-download-options',
  'x-permitted-cross-domain-policies',
  'x-xss-protection',
];

export type HeaderSetter = (res: EdgeResponse) => void;

/**
 * Sets helmet's headers, with HSTS only where the public URL is https. Answers of the API may in addition be stored
 * nowhere: they hold a workspace's data. The headers are the same for every request, so helmet computes them once.
 */
export function createSecurityHeaders(publicUrl: string): { forApi: HeaderSetter; forPages: HeaderSetter } {
  const headers = computeHeaders(publicUrl);
  const pages = [...headers, ['content-security-policy', DOCS_POLICY] as const];
  const api = [
    ...headers.filter(([name]) => !DOCUMENT_HEADERS.includes(name)),
    ['content-security-policy', API_POLICY] as const,
    ['cache-control', 'no-store'] as const,
  ];
  return {
    forApi: (res) => {
      for (const [name, value] of api) res.setHeader(name, value);
    },
    forPages: (res) => {
      for (const [name, value] of pages) res.setHeader(name, value);
    },
  };
}

function computeHeaders(publicUrl: string): [string, string][] {
  const headers = new Map<string, string>();
  const recorder = {
    setHeader: (name: string, value: string) => headers.set(name.toLowerCase(), value),
    removeHeader: (name: string) => headers.delete(name.toLowerCase()),
  };
  const setHeaders = helmet({ contentSecurityPolicy: false, strictTransportSecurity: publicUrl.startsWith('https:') });
  setHeaders({} as never, recorder as never, () => undefined);
  return [...headers];
}
