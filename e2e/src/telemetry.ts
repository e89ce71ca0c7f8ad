import { types } from 'node:util';
import type { PostAnswer } from './resend.ts';
import type { Target } from './target.ts';

export interface TelemetryBody {
  path: string;
  headers: Record<string, string>;
  bytes: Buffer;
}

/** Posts what a sender of telemetry reports. Rejects with the system's error if the connection fails. */
export async function postTelemetry({ baseUrl }: Target, { path, headers, bytes }: TelemetryBody): Promise<PostAnswer> {
  try {
    const answer = await fetch(baseUrl + path, { method: 'POST', headers, body: Buffer.from(bytes) });
    const text = await answer.text();
    return { status: answer.status, retryAfter: answer.headers.get('retry-after') ?? undefined, text };
  } catch (error) {
    // `fetch` wraps it. Jest's `Error` is another class.
    throw types.isNativeError(error) && error.cause !== undefined ? error.cause : error;
  }
}
