import type { ClientHttp2Stream } from 'node:http2';
import { afterEach } from '@jest/globals';
import { createBodyBudget } from '@tollkeeper/http';
import { AppError } from '@tollkeeper/kernel';
import { createMetrics } from '@tollkeeper/runtime';
import { testLogger } from '@tollkeeper/testing';
import {
  createReporterServer,
  type ReporterCall,
  type ReporterRpc,
  type ReporterServerOptions,
} from '../src/grpc/reporter.server.ts';
import { createReporterErrors } from '../src/intake/reporter.errors.ts';
import { headOf, TRACE_EXPORT } from './reporter.client.ts';

export const KIB = 1024;
export const MIB = 1024 * KIB;
export const BUDGET_BYTES = 4 * MIB;

export const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

/** The RPC of traces. */
export function rpcsOf(
  answer: ReporterRpc<string>['answer'],
  limitBytes = 3 * MIB,
): ReadonlyMap<string, ReporterRpc<string>> {
  return new Map([[TRACE_EXPORT, { limitBytes, tooLargeHint: 'Send less.', answer }]]);
}

/** A server that answers with the number of the bytes of a message. The key of a request is the name of its sender. */
export async function serve(overrides: Partial<ReporterServerOptions<string>> = {}) {
  const refusals: string[] = [];
  const countRefusal = (reason: string) => void refusals.push(reason);
  const bodies = createBodyBudget({ budgetBytes: BUDGET_BYTES, countRefusal });
  const calls: ReporterCall<string>[] = [];
  const metrics = createMetrics('test');
  const logs = testLogger();
  const server = createReporterServer<string>({
    config: { HOST: '127.0.0.1', OTLP_PORT: 0 },
    logger: logs.logger,
    metrics,
    rpcs: rpcsOf(async (call) => {
      calls.push(call);
      return Buffer.from(String(call.bytes.length));
    }),
    async authenticate({ headers: { authorization } }) {
      if (authorization === undefined) throw new AppError('unauthenticated', 'Send a key.');
      return authorization;
    },
    senderOf: (caller) => caller,
    chargeBytes: () => undefined,
    errors: createReporterErrors({ overQuota: 'rate_limited' }),
    maxRatio: 200,
    bodies,
    countRefusal,
    ...overrides,
  });
  await server.start();
  cleanUps.push(() => server.stop());
  return { server, address: server.address, bodies, calls, refusals, metrics, logs };
}

export const key = (authorization: string) => ({ authorization });

/** Begins a message and sends a part of it. */
export function half(stream: ClientHttp2Stream, announced: number, sent: number): ClientHttp2Stream {
  stream.write(Buffer.concat([headOf(announced), Buffer.alloc(sent)]));
  return stream;
}
