/** An answer to a report. */
export interface Sent {
  status: number;
  type: string | null;
  retryAfter: string | null;
  bytes: Buffer;
  /** Null unless the answer is JSON. */
  body: Record<string, unknown> | null;
}

/** Posts a report by HTTP. */
export async function sendReport(url: string, bytes: Buffer | string, headers: Record<string, string>): Promise<Sent> {
  const answer = await fetch(url, { method: 'POST', headers, body: Buffer.from(bytes) });
  const got = Buffer.from(await answer.arrayBuffer());
  const type = answer.headers.get('content-type');
  const isJson = type?.startsWith('application/json') ?? false;
  return {
    status: answer.status,
    type,
    retryAfter: answer.headers.get('retry-after'),
    bytes: got,
    body: isJson ? (JSON.parse(got.toString()) as Record<string, unknown>) : null,
  };
}
