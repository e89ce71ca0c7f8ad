import { AppError } from '@tollkeeper/kernel';

/** The request headers that decide, with lower-case names. */
export interface WriteHeaders {
  host?: string | undefined;
  origin?: string | undefined;
  'sec-fetch-site'?: string | string[] | undefined;
  'content-type'?: string | undefined;
  'content-length'?: string | undefined;
  'transfer-encoding'?: string | undefined;
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** True for methods that change nothing (RFC 9110 §9.2.1). */
export function isSafeMethod(method: string): boolean {
  return SAFE_METHODS.has(method);
}

/**
 * Makes the check against cross-site writes: those that another site's page makes a browser send with its user's
 * cookie.
 *
 * `Sec-Fetch-Site` must be `same-origin`. `Origin` must equal the public URL's, or have its scheme and the host that
 * the request was sent to: a page can choose neither its `Origin` nor the `Host`, so one gateway can have several
 * names. Clients that send neither header are not browsers and pass.
 */
export function createWriteProtection(publicUrl: string): (method: string, headers: WriteHeaders) => void {
  const { origin: publicOrigin, protocol } = new URL(publicUrl);

  return (method, headers) => {
    if (isSafeMethod(method)) return;
    const { origin, host, 'sec-fetch-site': site } = headers;
    const siteIsGood = site === undefined || site === 'same-origin';
    const originIsGood = origin === undefined || origin === publicOrigin || origin === `${protocol}//${host}`;
    if (siteIsGood && originIsGood) return;
    throw new AppError(
      'cross_site_request',
      `This request comes from another site. Send it from a page of ${publicOrigin}, the origin that PUBLIC_URL sets.`,
    );
  };
}

const BODY_TYPES = /^(?:application\/(?:[a-z0-9.+-]+\+)?json|text\/csv)\s*(?:;|$)/i;

/** Whether these headers announce a body. */
export function hasBody({ 'content-length': length, 'transfer-encoding': encoding }: WriteHeaders): boolean {
  return encoding !== undefined || (length !== undefined && length !== '0');
}

/**
 * Throws `unsupported_media_type` for a body that is neither JSON nor CSV, because a plain HTML form could have sent
 * it. Services know which of the two a request may have.
 */
export function refuseFormBody(headers: WriteHeaders): void {
  if (hasBody(headers) && !BODY_TYPES.test(headers['content-type'] ?? '')) {
    throw new AppError('unsupported_media_type', 'The Content-Type must be application/json, or text/csv for a file.');
  }
}
