import { Client, credentials, Metadata, type MethodDefinition, status } from '@grpc/grpc-js';

/** One connection to each replica, used in turn. */
export interface GrpcCalls {
  /** Repeats the call after UNAVAILABLE, as callers do. Its time includes both attempts. */
  call<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    metadata: Metadata,
  ): Promise<Response>;
  close(): void;
}

export function createGrpcCalls(addresses: string[]): GrpcCalls {
  const clients = addresses.map((address) => new Client(address, credentials.createInsecure()));
  let calls = 0;

  function call<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    metadata: Metadata,
  ): Promise<Response> {
    const { path, requestSerialize, responseDeserialize } = method;
    const client = clients[calls++ % clients.length]!;
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, (error, response) => {
        if (error === null) resolve(response as Response);
        else if (error.code === status.UNAVAILABLE) resolve(call(method, request, metadata));
        else reject(error);
      });
    });
  }

  return {
    call,
    close() {
      for (const client of clients) client.close();
    },
  };
}

/** The metadata of a gateway with the workspace key. */
export function metadataOf(apiKey: string): Metadata {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${apiKey}`);
  return metadata;
}
