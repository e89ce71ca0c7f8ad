import { TollkeeperError, TollkeeperUnavailable } from '../api/api.ts';
import { text } from '../text/index.ts';

/** The message of an error, and the request id to quote. */
export function explain(error: unknown): { message: string; requestId: string | null } {
  if (error instanceof TollkeeperUnavailable && error.status === null) {
    return { message: text.common.lost.once, requestId: null };
  }
  if (error instanceof TollkeeperError) {
    const fields = error.details.map(({ path, message }) => `${path}: ${message}`).join('; ');
    return { message: fields === '' ? error.message : `${error.message} ${fields}`, requestId: error.requestId };
  }
  return { message: error instanceof Error ? error.message : String(error), requestId: null };
}
