import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createHttpServer } from '@tollkeeper/http';
import type { TenantId } from '@tollkeeper/kernel';
import { createLogger, createMetrics } from '@tollkeeper/runtime';
import type { VerifiedKey } from '@tollkeeper/workspace-keys';
import { createOtlpRpcs } from '../src/grpc/otlp.rpcs.ts';
import { createReporterServer } from '../src/grpc/reporter.server.ts';
import { createIntakeRoutes } from '../src/http/intake.routes.ts';
import type { CallIntake } from '../src/intake/call.intake.ts';
import { MAX_OTLP_RATIO } from '../src/intake/decode.ts';
import { createReporterErrors } from '../src/intake/reporter.errors.ts';

/** What the process of the sender sends: bodies over one connection, the next one after the answer to the last. */
export interface Sending {
  transport: Transport;
  gzip: boolean;
  url: string;
  bytes: string;
  requests: number;
}

const TRANSPORTS = ['HTTP', 'gRPC'] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** Microseconds of processor time of this process for a body, by transport and compression, in interleaved rounds. */
export async function measureTransports(
  intake: CallIntake<VerifiedKey>,
  key: VerifiedKey & { tenantId: TenantId },
  { bytes, requests, rounds }: { bytes: Buffer; requests: number; rounds: number },
): Promise<{ name: string; micros: number[] }[]> {
  const shared = {
    config: { HOST: '127.0.0.1', HTTP_PORT: 0, OTLP_PORT: 0, CALLER_TOKEN_SECRET: 'x'.repeat(32) },
    logger: createLogger({ service: 'bench', level: 'silent' }),
    metrics: createMetrics('bench'),
  };
  const access = { scheme: 'workspaceKey', authenticate: async () => key, senderOf: () => 'bench' } as const;
  const quotas = { bytes: { admit: () => undefined, charge: () => undefined, owe: () => undefined } };
  const routes = createIntakeRoutes({ intake, authenticator: access, quotas });
  const http = createHttpServer({ ...shared, routes, name: 'ingest', bodyBudgetBytes: 64 * 1024 * 1024 });
  const errors = createReporterErrors({ overQuota: 'rate_limited' });
  const grpc = createReporterServer<VerifiedKey>({
    ...{ ...shared, ...access, errors, bodies: http.bodies, countRefusal: http.countRefusal },
    ...{ rpcs: createOtlpRpcs({ intake, errors }), chargeBytes: () => undefined, maxRatio: MAX_OTLP_RATIO },
  });
  await http.start();
  await grpc.start();
  const sender = fork(`${import.meta.dirname}/otlp.sender.main.ts`);
  const urls: Record<Transport, string> = { HTTP: http.url, gRPC: `http://${grpc.address}` };
  const measure = async (transport: Transport, gzip: boolean): Promise<number> => {
    const sending: Sending = { transport, gzip, url: urls[transport], bytes: bytes.toString('base64'), requests };
    sender.send(sending);
    // Sent when its bodies are ready.
    await once(sender, 'message');
    const before = process.cpuUsage();
    await once(sender, 'message');
    const { user, system } = process.cpuUsage(before);
    return (user + system) / requests;
  };
  const rows = [false, true].flatMap((gzip) =>
    TRANSPORTS.map((transport) => ({ transport, gzip, micros: [] as number[] })),
  );
  for (let round = 0; round <= rounds; round += 1) {
    for (const row of rows) {
      const micros = await measure(row.transport, row.gzip);
      // The first round warms up.
      if (round > 0) row.micros.push(micros);
    }
  }
  sender.kill();
  await grpc.stop();
  await http.stop();
  return rows.map(({ transport, gzip, micros }) => ({ name: `${transport}${gzip ? ', gzip' : ''}`, micros }));
}
