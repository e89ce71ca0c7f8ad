import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import {
  accessLogService,
  authorizationService,
  enforcerService,
  leaseService,
  limitsService,
  rateLimitService,
} from '@tollkeeper/contracts';
import { fromStatus } from '@tollkeeper/grpc';

const RPCS = { ...enforcerService, ...leaseService, ...limitsService, ...rateLimitService, ...authorizationService };
export type Rpc = Exclude<keyof typeof RPCS, number>;

/** A gateway that calls the services of the enforcer at the address. */
export function createGrpcCaller(address: string) {
  const client = new Client(address, credentials.createInsecure());
  return {
    close: () => client.close(),
    /** The answer of an RPC as its client reads it, or the status and the error in its details. */
    async call(rpc: Rpc, request: object, apiKey?: string) {
      const { path, requestSerialize, responseDeserialize } = RPCS[rpc]!;
      const metadata = metadataOf(apiKey);
      return new Promise<Record<string, unknown>>((resolve) => {
        client.makeUnaryRequest(
          path,
          requestSerialize as (value: object) => Buffer,
          responseDeserialize as (bytes: Buffer) => Record<string, unknown>,
          request,
          metadata,
          (error: ServiceError | null, response) => {
            if (error === null) return resolve(response!);
            const { code, message, details, retryAfterSeconds } = fromStatus(error, 'enforcer');
            resolve({ status: status[error.code], code, message, details, retryAfterSeconds });
          },
        );
      });
    },
    /** A stream of Envoy's access log. */
    openLog(apiKey?: string) {
      const { path, requestSerialize, responseDeserialize } = accessLogService.StreamAccessLogs;
      let end: (code: string) => void;
      const ended = new Promise<string>((resolve) => (end = resolve));
      const metadata = metadataOf(apiKey);
      const stream = client.makeClientStreamRequest(path, requestSerialize, responseDeserialize, metadata, (error) =>
        end(error === null ? 'OK' : status[error.code]!),
      );
      const send = (logEntry: AccessLogEntry[], logName = 'tollkeeper') =>
        stream.write({ identifier: { logName }, httpLogs: { logEntry } });
      return { stream, ended, send };
    },
  };
}

/** An entry as Envoy sends it. */
export type AccessLogEntry = NonNullable<NonNullable<SentLog['httpLogs']>['logEntry']>[number];
type SentLog = Parameters<(typeof accessLogService)['StreamAccessLogs']['requestSerialize']>[0];

function metadataOf(apiKey: string | undefined): Metadata {
  const metadata = new Metadata();
  if (apiKey !== undefined) metadata.set('authorization', `Bearer ${apiKey}`);
  return metadata;
}
