import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { trustedAuthority } from '@tollkeeper/testing/authority';

/** One request to the bucket, as its method, the key of the object, and what it does to it. */
export interface S3Call {
  method: string;
  key: string;
  query: URLSearchParams;
}

/** Whether the stand-in answers the call. If not, the test does. */
export type Intervene = (call: S3Call, response: ServerResponse) => boolean;

export const pass: Intervene = () => true;
export const refuse =
  (status: number, code: string): Intervene =>
  (_call, response) => {
    response.writeHead(status, { 'content-type': 'application/xml' }).end(`<Error><Code>${code}</Code></Error>`);
    return false;
  };

/**
 * An S3 server in memory, without a check of signatures, for faults at a chosen time: requests go to `intervene` first.
 * `scheduled-exports.tools.spec.ts` has a real server.
 */
export async function startS3() {
  const { key, cert } = await trustedAuthority();
  const objects = new Map<string, string>();
  const uploads = new Map<string, Map<number, Buffer>>();
  const calls: string[] = [];
  const behavior = { intervene: pass };

  function answer({ method, key: object, query }: S3Call, body: Buffer, response: ServerResponse): void {
    const id = query.get('uploadId');
    if (query.has('uploads')) {
      const begun = `up&${uploads.size + 1}-${calls.length}`;
      uploads.set(begun, new Map());
      response.end(`<R><UploadId>${begun.replace('&', '&amp;')}</UploadId></R>`);
      return;
    }
    if (id === null) {
      objects.set(object, body.toString('utf8'));
      response.end();
      return;
    }
    const parts = uploads.get(id);
    if (parts === undefined) return void refuse(404, 'NoSuchUpload')({ method, key: object, query }, response);
    if (method === 'PUT') {
      parts.set(Number(query.get('partNumber')), body);
      response.setHeader('etag', `"${parts.size}"`).end();
      return;
    }
    uploads.delete(id);
    if (method === 'POST') {
      objects.set(object, Buffer.concat([...parts].sort(([a], [b]) => a - b).map(([, part]) => part)).toString('utf8'));
    }
    response.end();
  }

  const server = createServer({ key, cert }, (request, response) => {
    void bodyOf(request).then((body) => {
      const url = new URL(request.url ?? '', 'https://localhost');
      const call = { method: request.method ?? '', key: url.pathname.slice(1), query: url.searchParams };
      calls.push(`${call.method} ${call.key}${[...call.query.keys()].map((name) => ` ${name}`).join('')}`);
      if (behavior.intervene(call, response)) answer(call, body, response);
    });
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    /** Ids of uploads in parts that have neither been completed nor aborted. */
    open: () => [...uploads.keys()],
    calls,
    behavior,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
export type S3StandIn = Awaited<ReturnType<typeof startS3>>;

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
