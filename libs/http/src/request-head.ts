import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '@tollkeeper/kernel';
import { errorAnswer } from './error-body.ts';
import { REQUEST_ID_HEADER, requestIdOf } from './request-id.ts';

/**
 * Answers a request with an ambiguous head with the common error body and closes its connection; false for other
 * requests. If a proxy and a server read such a head differently, an attacker can smuggle a request past the proxy.
 */
export function refuseAmbiguous(req: IncomingMessage, res: ServerResponse): boolean {
  const flaw = findFlaw(req);
  if (flaw === null) return false;
  const requestId = requestIdOf(req.headers[REQUEST_ID_HEADER]);
  const { status, body } = errorAnswer(new AppError('invalid_request', flaw), requestId);
  const text = JSON.stringify(body);
  res.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    [REQUEST_ID_HEADER]: requestId,
    connection: 'close',
  });
  res.end(text);
  return true;
}

/** The problem in the head of a request, as a sentence; null if the head is clear. */
function findFlaw({ rawHeaders, url, httpVersion }: IncomingMessage): string | null {
  if (url?.charCodeAt(0) !== SLASH) return 'The request target must be a path, such as /api/v1/workspaces.';
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts > 1) return 'The request has several Host headers. Send one.';
  return hosts === 0 && httpVersion === '1.1' ? 'The request has no Host header. Send one.' : null;
}

const SLASH = 0x2f;
