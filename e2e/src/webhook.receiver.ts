import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';

interface ReceivedWebhook {
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** A destination of alerts, on loopback with a self-signed certificate. */
export interface WebhookReceiver {
  url: string;
  /** File with the certificate, for the sender's `NODE_EXTRA_CA_CERTS`. */
  certificateFile: string;
  received: ReceivedWebhook[];
  /** Statuses of the next answers, in this order; then 200. */
  statuses: number[];
  stop(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'e2e destination' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  const directory = await mkdtemp(join(tmpdir(), 'tollkeeper-e2e-ca-'));
  const certificateFile = join(directory, 'ca.pem');
  await writeFile(certificateFile, cert);

  const received: ReceivedWebhook[] = [];
  const statuses: number[] = [];
  const server = createServer({ key, cert }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = request.headers as Record<string, string>;
      received.push({ path: request.url ?? '', headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(statuses.shift() ?? 200).end('thanks');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}/hook`,
    certificateFile,
    received,
    statuses,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(directory, { recursive: true });
    },
  };
}
