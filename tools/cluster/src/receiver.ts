import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { generate } from 'selfsigned';

/** A destination that accepts all notifications. */
export interface Receiver {
  url: string;
  /** PEM of the CA of its certificate. */
  certificate: string;
  stop(): void;
}

export async function startReceiver(address: string): Promise<Receiver> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'cluster destination' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: address }] }],
  });
  const server = createServer({ key, cert }, (request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(204).end());
  });
  await new Promise<void>((listening) => server.listen(0, address, listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://${address}:${port}/`,
    certificate: cert,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
