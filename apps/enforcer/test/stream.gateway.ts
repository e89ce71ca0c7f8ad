import { Client, credentials, Metadata, type MethodDefinition, type ServiceError, status } from '@grpc/grpc-js';
import { enforcerService } from '@tollkeeper/contracts';
import { createStreamCaller, fromStatus } from '@tollkeeper/grpc';

const { Reserve, Settle, Release, ReserveStream } = enforcerService;
type Sent<M> = M extends { requestSerialize: (value: infer Request) => Buffer } ? Request : never;
interface StreamedCall {
  reserve?: Sent<typeof Reserve>;
  settle?: Sent<typeof Settle>;
  release?: Sent<typeof Release>;
}

/** A gateway that sends its calls over a stream, and one by one to a server that has no streams. */
export function createStreamGateway(address: string, apiKey: string, deadlineMs?: number) {
  // A channel of its own, so that one gateway's connection is not another's.
  const client = new Client(address, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 });
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${apiKey}`);

  function unary<Request, Response>(method: MethodDefinition<Request, Response>, request: Request): Promise<Response> {
    const { path, requestSerialize, responseDeserialize } = method;
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, (error, response) =>
        error === null ? resolve(response!) : reject(fromStatus(error, 'enforcer')),
      );
    });
  }

  const caller = createStreamCaller({
    client,
    method: ReserveStream,
    metadata: () => metadata,
    async alone({ reserve, settle, release }: StreamedCall) {
      if (reserve !== undefined) return { tag: 0, response: await unary(Reserve, reserve) };
      return { tag: 0, ...(await (settle === undefined ? unary(Release, release!) : unary(Settle, settle))) };
    },
    peer: 'enforcer',
    ...(deadlineMs !== undefined && { deadlineMs }),
  });

  return {
    ...caller,
    close() {
      caller.close();
      client.close();
    },
    /** A stream without the manners of the caller above: what its messages are, and when they are read. */
    raw() {
      const { path, requestSerialize, responseDeserialize } = ReserveStream;
      const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
      const ended = new Promise<ReturnType<typeof fromStatus> & { status?: string }>((resolve) => {
        stream.on('error', (error: ServiceError) =>
          resolve(Object.assign(fromStatus(error, 'enforcer'), { status: status[error.code] })),
        );
      });
      return { stream, ended };
    },
  };
}
