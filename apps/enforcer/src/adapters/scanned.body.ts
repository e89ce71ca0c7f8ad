import { eachInSlices, JsonScanner, MalformedBody } from '@tollkeeper/call-facts';
import { AppError } from '@tollkeeper/kernel';

/** Bodies have the prompts of a call, and images. */
export const MAX_HOOK_BYTES = 8 * 1024 * 1024;
const MAX_LEVELS = 2_000;

/** Reads what it needs, and leaves the rest, such as prompts, for skipping. `undefined` where it may pause. */
export type ReadBody<T> = (json: JsonScanner) => Generator<undefined, T>;

/** Rejects with `invalid_request` for what is not JSON, and with the reason of `signal`. */
export async function scanBody<T>(bytes: Buffer, read: ReadBody<T>, signal: AbortSignal): Promise<T> {
  let result: T | undefined;
  function* reading(): Generator<undefined> {
    result = yield* read(new JsonScanner(bytes, { maxLevels: MAX_LEVELS }));
  }
  try {
    await eachInSlices(reading(), () => undefined, signal);
  } catch (error) {
    if (!(error instanceof MalformedBody)) throw error;
    throw new AppError('invalid_request', `The body ${error.message}. It must be the JSON of the gateway's hook.`, {
      cause: error,
    });
  }
  return result!;
}

/** Skips the value that comes next, and returns its length in bytes. */
export function* skippedBytes(json: JsonScanner): Generator<undefined, number> {
  json.peek();
  const start = json.at;
  yield* json.skip();
  return json.at - start;
}

const POSSIBLE_LATER: ReadonlySet<string> = new Set(['service_unavailable', 'rate_limited', 'internal']);

/**
 * The sentence for the caller of a call that cannot be made as it is: gateways show answers, and no errors. What may be
 * possible later is thrown, and the settings of the gateway say what happens then.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof AppError) || POSSIBLE_LATER.has(error.code)) throw error;
  return error.message;
}
