/** The result of a request in a batch. */
export interface BatchResult {
  error?: { code: string; message: string } | null;
}

/** Answers the requests in their order. */
export type SendBatch<Request, Result> = (requests: Request[]) => Promise<Result[]>;

/** The enforcer's limit. */
const MAX_BATCH_REQUESTS = 50;
/** While one batch is decided, the next is in transit. More batches would only be smaller. */
const MAX_OUT = 2;

/**
 * Batches requests without delaying them: requests that come while batches are in flight form the next one. So a single
 * request goes alone, and the more there are, the less each costs. An error of a request affects only that request, an
 * error of a batch all of its requests. A request that could not be decided is sent again.
 */
export function createCallGatherer<Request, Result extends BatchResult>(
  send: SendBatch<Request, Result>,
): (request: Request) => Promise<Result> {
  let waiting: { request: Request; resolve(result: Result): void; reject(error: unknown): void }[] = [];
  let out = 0;
  let isDue = false;

  function ask(request: Request): Promise<Result> {
    return new Promise((resolve, reject) => {
      waiting.push({ request, resolve, reject });
      sendSoon();
    });
  }

  /** Requests of the same turn of the event loop go together. */
  function sendSoon(): void {
    if (isDue || out >= MAX_OUT) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      void sendWaiting();
    });
  }

  async function sendWaiting(): Promise<void> {
    const batch = waiting.slice(0, MAX_BATCH_REQUESTS);
    waiting = waiting.slice(MAX_BATCH_REQUESTS);
    if (batch.length === 0) return;
    out += 1;
    if (waiting.length > 0) sendSoon();
    try {
      const results = await send(batch.map(({ request }) => request));
      for (const [index, { request, resolve, reject }] of batch.entries()) {
        const result = results[index]!;
        if (!result.error) resolve(result);
        else if (result.error.code === 'service_unavailable') ask(request).then(resolve, reject);
        else reject(new Error(result.error.message));
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    out -= 1;
    if (waiting.length > 0) sendSoon();
  }

  return ask;
}
