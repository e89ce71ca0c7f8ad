/** Answers after which the same body is sent again. */
const NOT_NOW = new Set([429, 503, 504]);
/** Shorter than `Retry-After`, so that recovery times measure Tollkeeper. */
const RETRY_PAUSE_MS = 200;

export interface PostAnswer {
  status: number;
  retryAfter: string | undefined;
  text: string;
}

/** Why an attempt was not accepted: its status, or `unreachable` if the connection failed. */
export type Refusal = number | 'unreachable';

/**
 * Posts until the answer is 200 or 202, as gateways and exporters do: the same again after 429, 503, 504 and a failed
 * connection. Rejects after another answer, and with what `refused` throws.
 */
export async function postUntilAccepted(
  post: () => Promise<PostAnswer>,
  refused: (refusal: Refusal) => void,
): Promise<void> {
  for (;;) {
    const refusal = await attempt(post);
    if (refusal === null) return;
    refused(refusal);
    await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
  }
}

/** Null if it is accepted. */
async function attempt(post: () => Promise<PostAnswer>): Promise<Refusal | null> {
  try {
    const { status, retryAfter, text } = await post();
    if (status === 200 || status === 202) return null;
    if (NOT_NOW.has(status) && Number(retryAfter) > 0) return status;
    throw new Error(`a report was answered ${status}, Retry-After ${retryAfter}: ${text}`);
  } catch (error) {
    // Failed connections have a system error code; other errors have none.
    if ((error as NodeJS.ErrnoException).code !== undefined) return 'unreachable';
    throw error;
  }
}
