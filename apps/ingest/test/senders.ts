import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IntakeRecord } from '@tollkeeper/call-facts';
import { decodeLitellm, decodeOtlp } from '../src/intake/decode.ts';
import type { TestSpan } from './otlp.bodies.ts';

/** A body that a real sender has sent, and how. All prompts in it are `PROMPTTEXT`. */
export interface RecordedBody {
  file: string;
  path: string;
  headers: Record<string, string>;
  note: string;
}

const FOLDER = join(import.meta.dirname, 'fixtures/senders');

export const RECORDED = JSON.parse(readFileSync(join(FOLDER, 'index.json'), 'utf8')) as readonly RecordedBody[];

/** A time after all recorded bodies, by less than a day. */
export const RECEIVED_MS = Date.parse('2026-11-26T10:00:00Z');

/** As it is after decompression. */
export function bodyOf(file: string): Buffer {
  return readFileSync(join(FOLDER, file));
}

export async function recordsOf({ file, path, headers }: RecordedBody): Promise<IntakeRecord[]> {
  const bytes = bodyOf(file);
  if (path.endsWith('/litellm')) return (await decodeLitellm(bytes)).records;
  const signal = path.endsWith('/logs') ? 'log' : 'span';
  return decodeOtlp(bytes, signal, headers['content-type'] === 'application/json' ? 'json' : 'protobuf');
}

export function recorded(file: string): RecordedBody {
  return RECORDED.find((body) => body.file === file)!;
}

/** A call with a cost, unless its attributes say otherwise. */
export function callSpan(
  attributes: TestSpan['attributes'] = [['gen_ai.usage.cost', 0.00517]],
  spanId = 'b7ad6b7169203331',
  model = 'gpt-4o',
): TestSpan {
  return {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId,
    endNanos: BigInt(RECEIVED_MS) * 1_000_000n,
    attributes: [
      ['gen_ai.operation.name', 'chat'],
      ['gen_ai.request.model', model],
      ['gen_ai.usage.input_tokens', 1200n],
      ['gen_ai.usage.output_tokens', 345n],
      ...attributes,
    ],
  };
}
