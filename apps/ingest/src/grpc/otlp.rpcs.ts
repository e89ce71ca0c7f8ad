import { agentOf } from '@tollkeeper/call-facts';
import { INTAKE_PATHS } from '@tollkeeper/contracts';
import type { VerifiedKey } from '@tollkeeper/workspace-keys';
import type { CallIntake } from '../intake/call.intake.ts';
import { type OtlpSignal, protobufAnswer } from '../intake/otlp-answer.ts';
import type { Signal } from '../intake/otlp-protobuf.ts';
import type { ReporterErrors } from '../intake/reporter.errors.ts';
import type { ReporterRpc } from './reporter.server.ts';

export interface OtlpRpcsDeps {
  intake: Pick<CallIntake<VerifiedKey>, 'takeOtlp' | 'dropMetrics'>;
  errors: ReporterErrors;
}

const COLLECTOR = '/opentelemetry.proto.collector';
const TRACES = `${COLLECTOR}.trace.v1.TraceService/Export`;
const LOGS = `${COLLECTOR}.logs.v1.LogsService/Export`;
const METRICS = `${COLLECTOR}.metrics.v1.MetricsService/Export`;

/** The services of OTLP, as over HTTP: metrics count nothing. */
export function createOtlpRpcs({ intake, errors }: OtlpRpcsDeps): ReadonlyMap<string, ReporterRpc<VerifiedKey>> {
  type Answer = ReporterRpc<VerifiedKey>['answer'];
  const take =
    (path: string, records: Signal): Answer =>
    async ({ caller, accessMs, bytes, headers }) => {
      const agent = agentOf(headers);
      const { notices } = await errors.answer(accessMs, (signal) =>
        intake.takeOtlp(caller, { bytes, signal: records, encoding: 'protobuf' }, { path, agent, signal }),
      );
      return protobufAnswer(notices);
    };
  const drop: Answer = async ({ caller }) => {
    intake.dropMetrics(caller, { path: METRICS });
    return protobufAnswer([]);
  };
  const rpc = (signal: OtlpSignal, answer: Answer): ReporterRpc<VerifiedKey> => {
    const { maxBytes: limitBytes, tooLargeHint } = INTAKE_PATHS[signal];
    return { limitBytes, tooLargeHint, answer };
  };
  return new Map([
    [TRACES, rpc('traces', take(TRACES, 'span'))],
    [LOGS, rpc('logs', take(LOGS, 'log'))],
    [METRICS, rpc('metrics', drop)],
  ]);
}
