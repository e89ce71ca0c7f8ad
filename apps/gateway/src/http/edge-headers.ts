import { type IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { REQUEST_ID_HEADER } from '@tollkeeper/http';
import helmet from 'helmet';
import type { EdgeResponse } from './exchange.ts';

/** Answers of the API are data: no content in them may run, load or be framed. */
const API_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** The page at /docs runs the scripts and styles that this gateway serves, and calls this gateway. */
const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** Helmet's headers that matter for data and not only for documents. Each one costs something in every answer. */
const DATA_HEADERS = ['strict-transport-security', 'x-content-type-options', 'x-frame-options'];

/** Hop-by-hop headers (RFC 9110 §7.6.1), and headers that only the edge sets. */
const NOT_PASSED = [
  'connection',
  'date',
  'keep-alive',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  REQUEST_ID_HEADER,
];

/** The headers that the edge sets on answers, its own and those of the services. */
export interface EdgeHeaders {
  /** For API answers of the edge itself, and for errors on any path. */
  setForApi(res: EdgeResponse): void;
  /** For the documentation of the API. */
  setForDocumentation(res: EdgeResponse): void;
  /**
   * All headers of a service's answer: names and values in turn, as `writeHead` takes them. `given` are the service's
   * headers with lower-case names; where both set one, the edge's wins.
   */
  ofAnswer(requestId: string, given: IncomingHttpHeaders): string[];
  /** As `ofAnswer`, for pages of the console, which sets its own content and cache policies. */
  ofPage(requestId: string, given: IncomingHttpHeaders): string[];
}

/**
 * Helmet's headers, with HSTS only if the public URL is https. Answers of the API are also `no-store`, since they hold
 * a workspace's data. All headers are the same for every request, so helmet computes them once.
 */
export function createEdgeHeaders(publicUrl: string): EdgeHeaders {
  const computed = computeHeaders(publicUrl);
  const documentation = [...computed, ['content-security-policy', DOCS_POLICY] as const];
  const api = [
    ...computed.filter(([name]) => DATA_HEADERS.includes(name)),
    ['content-security-policy', API_POLICY] as const,
    ['cache-control', 'no-store'] as const,
  ];
  const set = (res: EdgeResponse, headers: readonly (readonly [string, string])[]) => {
    res.setHeader(REQUEST_ID_HEADER, res.locals.requestId);
    for (const [name, value] of headers) res.setHeader(name, value);
  };
  return {
    setForApi: (res) => set(res, api),
    setForDocumentation: (res) => set(res, documentation),
    ofAnswer: createMerge(api),
    ofPage: createMerge(computed),
  };
}

/** Puts the edge's headers before those of a service, without the service's headers of the same names. */
function createMerge(own: readonly (readonly [string, string])[]): EdgeHeaders['ofAnswer'] {
  const flat = own.flat();
  const dropped = new Set([...own.map(([name]) => name), ...NOT_PASSED]);
  return (requestId, given) => {
    const headers = [REQUEST_ID_HEADER, requestId, ...flat];
    for (const name in given) {
      const value = given[name];
      if (value === undefined || dropped.has(name)) continue;
      if (typeof value === 'string') headers.push(name, value);
      else for (const each of value) headers.push(name, each);
    }
    return headers;
  };
}

function computeHeaders(publicUrl: string): [string, string][] {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  const setHeaders = helmet({ contentSecurityPolicy: false, strictTransportSecurity: publicUrl.startsWith('https:') });
  setHeaders(request, response, () => undefined);
  return Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]);
}
