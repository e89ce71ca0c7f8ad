import { type handleUnaryCall, status, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { AppError, type ExplainError, newId } from '@tollkeeper/kernel';
import { type Logger, withSpan } from '@tollkeeper/runtime';
import type { z } from 'zod';
import { createAnswerEach, requestsIn } from './batch.ts';
import { admitCallers, admitServices, type Admit } from './call.admission.ts';
import { carried, type ServerTelemetry, textOf } from './call.telemetry.ts';
import type { GrpcService, UnaryHandler } from './grpc-service.ts';
import { checkRequest } from './request-check.ts';
import type { ReportStreams } from './report-streams.ts';
import type { RequestStreams } from './request-streams.ts';
import { toStatus } from './status.ts';
import { REQUEST_ID_METADATA, toCallName } from './unary.ts';

/** Has no error code of ours, so that it never becomes a 401 for the person whose request led to the call. */
const NOT_A_SERVICE = {
  code: status.UNAUTHENTICATED,
  details: 'No valid token of a service. CALLER_TOKEN_SECRET must be the same in all services, and their clocks right.',
};
/** Least milliseconds between two warnings of refused calls. */
const WARN_EVERY_MS = 1_000;
const WELL_FORMED_REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

export interface UnaryServerDeps {
  callerTokenSecret: string;
  telemetry: ServerTelemetry;
  explain: ExplainRpc;
  streams: RequestStreams;
  reports: ReportStreams;
}

/** Logs why an RPC failed, and returns what its caller may know about it. */
export type ExplainRpc = (rpc: string, requestId: string, thrown: unknown) => unknown;

/** `explain` translates errors of libraries that the handlers use. */
export function createExplainRpc(logger: Logger, explain: ExplainError | undefined): ExplainRpc {
  const warnOfRefusal = createRefusalWarner();
  return (rpc, requestId, thrown) => {
    const err = explain?.(thrown) ?? thrown;
    const log = logger.child({ request_id: requestId, rpc });
    if (!(err instanceof AppError)) log.error({ err }, 'an RPC failed');
    else if (err.cause !== undefined) warnOfRefusal(log, err);
    return err;
  };
}

/** Makes the grpc-js handlers of a service's RPCs: authentication, validation and the answer. */
export function createImplementer(deps: UnaryServerDeps): (service: GrpcService) => UntypedServiceImplementation {
  const { callerTokenSecret, telemetry } = deps;

  function toUnaryCall(
    method: string,
    schema: z.ZodType,
    handler: UnaryHandler,
    admit: Admit,
  ): handleUnaryCall<unknown, unknown> {
    return (call, callback) => {
      const { span, end } = telemetry.begin(method, carried(call.metadata));
      const requestId = toRequestId(call.metadata.get(REQUEST_ID_METADATA)[0]);
      const explain = (thrown: unknown): unknown => deps.explain(method, requestId, thrown);
      const fail = (thrown: unknown): void => refuse(toStatus(explain(thrown), requestId));
      const refuse = (failure: { code: status }): void => {
        end(failure.code);
        callback(failure);
      };
      const answer = async (): Promise<void> => {
        const authorization = textOf(call.metadata, 'authorization');
        const requests = requestsIn(call.request);
        const admitted = await admit({ authorization, requestId, rpc: method, requests, message: call.request });
        if (admitted === null) return refuse(NOT_A_SERVICE);
        const { caller, ended } = admitted;
        try {
          const answerEach = createAnswerEach({ explain, onAnswer: (code) => telemetry.batched(method, code) });
          const response = await handler(checkRequest(schema, call.request), { requestId, caller, answerEach });
          end(status.OK);
          callback(null, response);
        } finally {
          ended?.();
        }
      };
      const respond = (): void => void answer().catch(fail);
      if (span === undefined) respond();
      else withSpan(span, respond);
    };
  }

  return ({ definition, requests, handlers, streams = {}, reports = {}, authenticator }) => {
    const methods: UntypedServiceImplementation = {};
    const admitCaller = authenticator && admitCallers(authenticator);
    const admit = admitCaller ?? admitServices(callerTokenSecret, definition);
    for (const [rpcName, { path, requestStream }] of Object.entries(definition)) {
      if (requestStream) {
        const [kinds, reported] = [streams[rpcName], reports[rpcName]];
        if (admitCaller === undefined) throw new Error(`${path} has no authenticator`);
        if (reported !== undefined) methods[rpcName] = deps.reports.toCall(path, reported, admitCaller);
        else if (kinds !== undefined) methods[rpcName] = deps.streams.toCall(path, kinds, admitCaller);
        else throw new Error(`${path} has no kinds of requests or of reports`);
        continue;
      }
      const handler = handlers[toCallName(rpcName)];
      const schema = requests[toCallName(rpcName)];
      if (handler === undefined || schema === undefined) throw new Error(`${path} has no handler or no schema`);
      methods[rpcName] = toUnaryCall(path, schema, handler, admit);
    }
    return methods;
  };
}

/** While a peer is down, all calls are refused for the same reason, in some services thousands a second. */
function createRefusalWarner(): (log: Logger, err: AppError) => void {
  let warnAt = 0;
  let unsaid = 0;
  return (log, err) => {
    if (performance.now() < warnAt) {
      unsaid += 1;
      return;
    }
    const before = unsaid === 0 ? '' : ` (${unsaid} more were not logged)`;
    log.warn({ err }, `an RPC was refused${before}`);
    warnAt = performance.now() + WARN_EVERY_MS;
    unsaid = 0;
  };
}

function toRequestId(given: unknown): string {
  return typeof given === 'string' && WELL_FORMED_REQUEST_ID.test(given) ? given : newId('req');
}
