import { status } from '@grpc/grpc-js';
import { createSparingWarner, type Logger } from '@tollkeeper/runtime';
import type { ServerTelemetry } from './call.telemetry.ts';
import type { GrpcService } from './grpc-service.ts';
import type { OnStreamEnd } from './stream.limit.ts';

/** Why a server refuses a stream of reports, and what helps. */
const REFUSALS = new Map([
  [status.UNAUTHENTICATED, 'a stream of reports was refused: set a valid key at its sender, which loses its reports'],
  [status.PERMISSION_DENIED, 'a stream of reports was refused: use a key that may report at its sender'],
  [status.RESOURCE_EXHAUSTED, 'a message of reports is too large and was lost: let its sender send smaller ones'],
  [status.INVALID_ARGUMENT, 'a message of reports cannot be read and was lost: check what its sender sends'],
]);

interface StreamEndsDeps {
  logger: Logger;
  telemetry: Pick<ServerTelemetry, 'streamEnded'>;
  services: readonly GrpcService[];
}

/** Counts how streams end. Nobody reads the answer to reports, so the log says why they were refused. */
export function createStreamEnds({ logger, telemetry, services }: StreamEndsDeps): OnStreamEnd {
  const now = () => performance.now();
  const warners = new Map([...REFUSALS].map(([code, message]) => [code, createSparingWarner(logger, now, message)]));
  const ofReports = new Set(
    services.flatMap(({ definition, reports = {} }) => Object.keys(reports).map((name) => definition[name]?.path)),
  );
  return (rpc, code, reason) => {
    telemetry.streamEnded(rpc, code);
    if (ofReports.has(rpc)) warners.get(code)?.({ rpc, reason });
  };
}
