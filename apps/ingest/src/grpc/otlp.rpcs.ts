import type { VerifiedKey } from '@tollkeeper/workspace-keys';
import type { CallIntake } from '../intake/call.intake.ts';
import { protobufAnswer } from '../intake/otlp-answer.ts';
import type { Signal } from '../intake/otlp-protobuf.ts';
import type { ReporterErrors } from '../intake/reporter.errors.ts';
import { agentOf } from '../intake/agent-header.ts';
import type { ReporterRpc } from './reporter.server.ts';

export interface OtlpRpcsDeps {
  intake: Pick<CallIntake<VerifiedKey>, 'takeOtlp'>;
  errors: ReporterErrors;
}

const COLLECTOR = '/opentelemetry.proto.collector';

/** The services of OTLP, as over HTTP: metrics count nothing. */
export function createOtlpRpcs({ intake, errors }: OtlpRpcsDeps): ReadonlyMap<string, ReporterRpc<VerifiedKey>> {
  const take =
    (records: Signal): ReporterRpc<VerifiedKey> =>
    async ({ caller, bytes, headers }) => {
      const { notices } = await errors.answer((signal) =>
        intake.takeOtlp(caller, { bytes, signal: records, encoding: 'protobuf' }, { agent: agentOf(headers), signal }),
      );
      return protobufAnswer(notices);
    };
  return new Map<string, ReporterRpc<VerifiedKey>>([
    [`${COLLECTOR}.trace.v1.TraceService/Export`, take('span')],
    [`${COLLECTOR}.logs.v1.LogsService/Export`, take('log')],
    [`${COLLECTOR}.metrics.v1.MetricsService/Export`, async () => protobufAnswer([])],
  ]);
}
