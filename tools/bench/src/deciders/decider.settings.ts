import type { BudgetsOfCall } from './call.ts';
import type { Decider } from './decider.ts';
import { createDocumentDecider } from './document.decider.ts';
import { createEdgeDecider } from './edge.decider.ts';
import { createEngineDecider } from './engine.decider.ts';
import { createGrpcBatchesDecider } from './grpc-batches.decider.ts';
import { createGrpcStreamDecider } from './grpc-stream.decider.ts';
import { createGrpcDecider } from './grpc.decider.ts';
import { createRateLimitDecider } from './rate-limit.decider.ts';
import { createRedisDecider } from './redis.decider.ts';
import { createTransactionDecider } from './transaction.decider.ts';

/** The kind of a decider, and its address. */
export type DeciderSettings =
  | { kind: 'grpc'; addresses: string[]; apiKeys: string[]; budgets: BudgetsOfCall }
  | { kind: 'grpc-batches' | 'rate-limit'; addresses: string[]; apiKey: string }
  | { kind: 'grpc-stream'; address: string; apiKey: string }
  | { kind: 'edge'; baseUrl: string; apiKey: string }
  | { kind: 'engine'; env: Record<string, string>; tenantId: string }
  | { kind: 'document' | 'transaction'; uri: string }
  | { kind: 'redis'; port: number };

export async function createDecider(settings: DeciderSettings): Promise<Decider> {
  switch (settings.kind) {
    case 'grpc':
      return createGrpcDecider(settings);
    case 'grpc-batches':
      return createGrpcBatchesDecider(settings);
    case 'rate-limit':
      return createRateLimitDecider(settings);
    case 'grpc-stream':
      return createGrpcStreamDecider(settings);
    case 'edge':
      return createEdgeDecider(settings);
    case 'engine':
      return createEngineDecider(settings);
    case 'document':
      return createDocumentDecider(settings.uri);
    case 'transaction':
      return createTransactionDecider(settings.uri);
    case 'redis':
      return createRedisDecider(settings.port);
  }
}
