import { Client, credentials, type Server, ServerCredentials } from '@grpc/grpc-js';
import { afterEach } from '@jest/globals';

/** Run after the test, the last one first. */
export const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Lets the server listen until the test ends, and resolves to a client of it. */
export async function connectTo(server: Server): Promise<{ client: Client; port: number }> {
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  cleanUps.push(() => server.forceShutdown());
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  cleanUps.push(() => client.close());
  return { client, port };
}
