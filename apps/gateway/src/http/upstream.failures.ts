import { AppError } from '@tollkeeper/kernel';

const LOST = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** Whether a service closed the connection, as it does when it stops or restarts. */
export function isLost(error: Error): boolean {
  return 'code' in error && LOST.has(String(error.code));
}

/** The error for a service that stayed silent. */
export function silent(name: string): AppError {
  return new AppError('upstream_timeout', `The ${name} service took too long to answer. Try again shortly.`);
}

/** The error for a service that failed in any other way. */
export function unreachable(name: string, cause: Error): AppError {
  const message = `The ${name} service cannot be reached right now. Try again shortly.`;
  return new AppError('service_unavailable', message, { cause });
}
