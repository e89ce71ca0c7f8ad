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
import { type Encoding, MAX_OTLP_RATIO } from '../src/intake/decode.ts';
import { createReporterErrors } from '../src/intake/reporter.errors.ts';

/** What the process of the sender sends: bodies over one connection, the next one after the answer to the last. */
export interface Sending {
  transport: Transport;
  encoding: Encoding;
  gzip: boolean;
  url: string;
  bytes: string;
  requests: number;
}

export type Transport = 'HTTP' | 'gRPC';
type Way = Pick<Sending, 'transport' | 'encoding' | 'gzip'>;

const WAYS: readonly Way[] = [false, true].flatMap((gzip): Way[] => [
  { transport: 'HTTP', encoding: 'protobuf', gzip },
  { transport: 'HTTP', encoding: 'json', gzip },
  { transport: 'gRPC', encoding: 'protobuf', gzip },
]);

/** Takes OTLP, and says how much processor time its process has used so far. */
export interface Receiver {
  readonly urls: Record<Transport, string>;
  cpuMicros(): number;
  stop(): Promise<void>;
}

/** The intake of this process behind both transports, as in ingest. */
export async function startIntake(
  intake: CallIntake<VerifiedKey>,
  key: VerifiedKey & { tenantId: TenantId },
): Promise<Receiver> {
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
  return {
    urls: { HTTP: http.url, gRPC: `http://${grpc.address}` },
    cpuMicros() {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
    async stop() {
      await grpc.stop();
      await http.stop();
    },
  };
}

/** A process that sends bodies. */
export interface BodySender {
  /** Resolves once all requests are answered, to the processor time of the receiver for each, in microseconds. */
  send(to: Receiver, way: Way, bytes: Buffer, requests: number): Promise<number>;
  stop(): void;
}

export function startSender(): BodySender {
  const sender = fork(`${import.meta.dirname}/otlp.sender.main.ts`);
  return {
    async send(to, way, bytes, requests) {
      const sending: Sending = { ...way, url: to.urls[way.transport], bytes: bytes.toString('base64'), requests };
      sender.send(sending);
      // Sent when its bodies are ready.
      await once(sender, 'message');
      const before = to.cpuMicros();
      await once(sender, 'message');
      return (to.cpuMicros() - before) / requests;
    },
    stop: () => void sender.kill(),
  };
}

/** Microseconds of processor time for a body, by way and receiver, in interleaved rounds. */
export async function measureTransports(
  receivers: readonly Receiver[],
  { bodies, requests, rounds }: { bodies: Record<Encoding, Buffer>; requests: number; rounds: number },
): Promise<{ name: string; micros: number[][] }[]> {
  const sender = startSender();
  const rows = WAYS.map((way) => ({ way, micros: receivers.map((): number[] => []) }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { way, micros } of rows) {
      for (const [index, receiver] of receivers.entries()) {
        const of = await sender.send(receiver, way, bodies[way.encoding], requests);
        // The first round warms up.
        if (round > 0) micros[index]!.push(of);
      }
    }
  }
  sender.stop();
  return rows.map(({ way: { transport, encoding, gzip }, micros }) => ({
    name: [transport, encoding, ...(gzip ? ['gzip'] : [])].join(', '),
    micros,
  }));
}
