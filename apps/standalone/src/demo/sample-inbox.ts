import { hash } from 'node:crypto';
import type { HttpsRequest, Send } from '@tollkeeper/notifier';

/** The destination of the sample workspace's alerts. `.invalid` names are reserved, so nobody owns it (RFC 2606). */
export const SAMPLE_INBOX_URL = 'https://on-call.sample.invalid/alerts';

/** One in this many notifications finds the inbox busy at first. */
const BUSY_EVERY = 8;

/** Receives notifications within this process. It accepts some only at the second attempt, like many real inboxes. */
export function createSampleInbox(): Send<HttpsRequest> {
  const turnedAway = new Set<string>();
  return async ({ headers }) => {
    const id = headers['webhook-id'] ?? '';
    const isBusy = Number.parseInt(hash('sha256', id).slice(0, 8), 16) % BUSY_EVERY === 0;
    if (isBusy && !turnedAway.delete(id)) {
      turnedAway.add(id);
      return { kind: 'answered', status: 503, snippet: 'The sample inbox is busy.', retryAfter: null };
    }
    return { kind: 'answered', status: 200, snippet: 'The sample inbox has it.', retryAfter: null };
  };
}
